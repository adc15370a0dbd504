"""Adapters inside a policy: they begin as nothing, and are all that is trained."""

from __future__ import annotations

import pytest
import torch
from tests.unit.engine.tiny_model import fresh_model

from toolorchestra.model import lora
from toolorchestra.model.config import LoraConfig
from toolorchestra.model.lora import add_adapters

IDS = torch.tensor([[5, 6, 7, 8, 9]])


def test_adapters_change_nothing_at_first_and_are_trained_alone():
    model = fresh_model()
    before = model(input_ids=IDS).logits.detach()
    add_adapters(model, LoraConfig(rank=2, targets=["q_proj", "down_proj"]))
    logits = model(input_ids=IDS).logits
    assert torch.equal(logits.detach(), before)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    # two matrices a layer, each with an adapter of two parts
    assert len(trained) == 4 * model.config.num_hidden_layers
    assert all("lora_" in name for name in trained)
    logits.sum().backward()
    assert {n for n, weight in model.named_parameters() if weight.grad is not None} == trained


def test_names_that_the_model_does_not_have_are_told_with_those_that_it_has():
    with pytest.raises(ValueError, match=r"model.lora.targets: \['nope'\] are not .*q_proj"):
        add_adapters(fresh_model(), LoraConfig(rank=2, targets=["nope"]))


def test_without_peft_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(lora, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"without peft; pip install 'toolorchestra\[lora\]'"):
        add_adapters(fresh_model(), LoraConfig(rank=2))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rank": -1}, "model.lora.rank: -1 is not allowed"),
        ({"alpha": 0.0}, "model.lora.alpha: 0.0 is not allowed"),
        ({"rank": 2, "targets": []}, r"model.lora.targets: \[\] is not allowed"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    with pytest.raises(ValueError, match=told):
        LoraConfig(**options)
