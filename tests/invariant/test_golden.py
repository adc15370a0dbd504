"""Rewards, advantages and losses equal numbers worked out by hand; README.md derives each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from toolorchestra.algorithm.advantages import advantages
from toolorchestra.algorithm.aggregate import global_denominator
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.objective import Tokens, policy_objective
from toolorchestra.reward.group import RULES
from toolorchestra.types import Measures, Preference

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden.json").read_text())
LOSSES = GOLDEN["losses"]


@pytest.mark.parametrize("case", GOLDEN["rewards"], ids=lambda case: case["name"])
def test_rewards(case):
    wanted = Preference(kind="test", instruction="", **case["preference"])
    group = [Measures(**fields) for fields in case["measures"]]
    rewards = [sum(terms.values()) for terms in RULES[case["rule"]](group, wanted)]
    assert rewards == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize("case", GOLDEN["advantages"], ids=lambda case: case["kind"])
def test_advantages(case):
    rewards_G = torch.tensor(case["rewards"], dtype=torch.float64)
    values_G = advantages(rewards_G, kind=case["kind"], clip=case["clip"])
    assert values_G.tolist() == pytest.approx(case["expected"], abs=1e-6)


@pytest.mark.parametrize("case", LOSSES["cases"], ids=lambda case: case["name"])
def test_losses(case):
    config = AlgorithmConfig(**(LOSSES["base_config"] | case["config"]))
    logprobs_T = torch.tensor(LOSSES["probabilities"], dtype=torch.float64).log()
    tokens = Tokens(
        logprobs_T=logprobs_T,
        sampler_logprobs_T=torch.tensor(LOSSES["sampler_probabilities"]).double().log(),
        advantages_T=torch.tensor(LOSSES["advantages"], dtype=torch.float64),
        mask_T=torch.tensor(LOSSES["mask"], dtype=torch.bool),
        sequences_T=torch.tensor(LOSSES["sequences"]),
        num_sequences=2,
        old_logprobs_T=logprobs_T if config.old_policy == "trainer" else None,
    )
    denominator = global_denominator(
        config.aggregation, num_tokens=4, num_sequences=2, max_tokens=LOSSES["max_tokens"]
    )
    out = policy_objective(tokens, config, denominator=denominator)
    assert out.loss.item() == pytest.approx(case["expected"], abs=1e-7)
