"""Options of a whole command that cannot be meant are refused by their key."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest
from omegaconf import OmegaConf
from tests.composed import composed

from toolorchestra.synthesis.commands import DomainConfig, PreferencesConfig
from toolorchestra.synthesis.config import AskedConfig


def options() -> PreferencesConfig:
    config = composed(output_dir=None, command="preferences")
    return cast(PreferencesConfig, OmegaConf.to_object(config))


def test_the_shipped_models_that_propose_and_validate_pairs_are_served_and_priced() -> None:
    found = options()
    for model in (found.proposer.model, found.validator.model):
        assert found.provider.serving(model) is not None
        assert model in found.pricing.schedules["official"].prices


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "thin_air"}, "source: 'thin_air' is not allowed; use models or templates"),
        ({"num_batches": 0}, "num_batches: 0 is not allowed; use a whole number from 1"),
        ({"batch_size": 0}, "batch_size: 0 is not allowed"),
        ({"eval_parts": 1}, "eval_parts: 1 is not allowed; use a whole number from 2"),
        ({"max_concurrent": 0}, "max_concurrent: 0 is not allowed"),
        ({"proposer": AskedConfig(model="a", system=" ")}, "proposer.system: an empty text"),
        ({"validator": AskedConfig(model=" ", system="x")}, "validator.model: an empty text"),
        (
            {"validator": AskedConfig(model="GPT-5", system="x")},
            "validator.model: GPT-5 is not allowed, as it is the proposer",
        ),
    ],
)
def test_a_synthesis_of_pairs_that_cannot_be_meant_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        dataclasses.replace(options(), **changes)
    assert str(caught.value).startswith(message)


def test_the_shipped_models_that_make_a_domain_are_served_and_priced() -> None:
    config = composed("domain=demo", output_dir=None, command="domain")
    found = cast(DomainConfig, OmegaConf.to_object(config))
    assert found.out == "outputs/domains/demo" and found.solver.attempts == 8
    for model in (found.writer.model, found.validator.model, found.solver.model):
        assert found.provider.serving(model) is not None
        assert model in found.pricing.schedules["official"].prices
