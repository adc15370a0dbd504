"""What the machine and the precision allow, and what DeepSpeed and Lightning are told."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch.strategies import SingleDeviceStrategy

from toolorchestra.trainer import strategy as module
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.strategy import (
    OrchestratorDeepSpeed,
    check_trainer,
    deepspeed_config,
    make_strategy,
    whole_weights,
)


def deepspeed(**options):
    return TrainerConfig(strategy="deepspeed", accelerator="cpu", **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="the machine has a GPU")
@pytest.mark.parametrize(
    ("options", "dtype", "told"),
    [
        ({"accelerator": "gpu"}, "float32", "trainer.accelerator: 'gpu' is not allowed"),
        ({}, "bfloat16", "model.dtype: 'bfloat16' is not allowed with trainer.strategy=single"),
        ({"optimizer": "adamw_8bit"}, "float32", "needs a GPU and bitsandbytes"),
    ],
)
def test_what_the_machine_cannot_do_is_refused_before_anything_is_loaded(options, dtype, told):
    with pytest.raises(ValueError, match=told):
        check_trainer(TrainerConfig(**options), dtype=dtype)


def test_deepspeed_that_is_not_installed_is_named_with_the_extra(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"'deepspeed' is not installed.*toolorchestra\[deepspeed"):
        check_trainer(deepspeed(), dtype="float32")


def test_a_policy_in_bfloat16_may_be_evaluated_by_one_process():
    check_trainer(TrainerConfig(max_steps=0), dtype="bfloat16")
    check_trainer(deepspeed(), dtype="bfloat16")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"zero_stage": 4}, "trainer.zero_stage: 4 is not allowed; use 0, 1, 2 or 3"),
        ({"devices": 2}, "trainer.devices: 2 is not allowed; use 1, or more with trainer.strategy"),
        ({"num_nodes": 2}, "trainer.num_nodes: 2 is not allowed"),
        ({"offload_optimizer": True}, "trainer.offload_optimizer: True is not allowed"),
        ({"strategy": "fsdp"}, "trainer.strategy: 'fsdp' is not allowed; use single or deepspeed"),
        ({"optimizer": "sgd"}, "use adamw or adamw_fused or adamw_8bit"),
        ({"keep_one_every_h": -1.0}, "a finite number from 0"),
    ],
)
def test_options_that_cannot_be_are_refused_with_what_is_allowed(options, told):
    with pytest.raises(ValueError, match=told):
        TrainerConfig(**options)


def test_ranks_are_counted_over_all_nodes():
    assert deepspeed(devices=4, num_nodes=2).num_ranks == 8


def test_one_process_needs_no_deepspeed():
    assert isinstance(make_strategy(TrainerConfig(accelerator="cpu"), dtype="float32"),
                      SingleDeviceStrategy)  # fmt: skip


def test_deepspeed_clips_divides_and_drops_what_is_not_finite():
    options = deepspeed_config(deepspeed(zero_stage=2, clip_norm=0.5), dtype="bfloat16")
    assert options["gradient_clipping"] == 0.5
    assert options["zero_optimization"] == {"stage": 2}
    assert options["bf16"] == {"enabled": True, "check_grad_overflow": True}
    assert options["data_types"] == {"grad_accum_dtype": "fp32"}
    assert "gradient_accumulation_steps" not in options, "Lightning refuses it"


def test_full_precision_turns_no_bfloat16_on():
    options = deepspeed_config(deepspeed(zero_stage=3, offload_optimizer=True), dtype="float32")
    assert "bf16" not in options and "data_types" not in options
    assert options["zero_optimization"]["offload_optimizer"]["device"] == "cpu"


def test_on_a_cpu_deepspeed_talks_by_gloo():
    strategy = make_strategy(deepspeed(), dtype="float32")
    assert isinstance(strategy, OrchestratorDeepSpeed)
    assert strategy.process_group_backend == "gloo"


def test_weights_that_are_not_divided_are_whole_already():
    model = torch.nn.Linear(2, 2)
    with whole_weights(model, deepspeed(zero_stage=2)):
        assert model.weight.shape == (2, 2)
