"""What does not fit is named, and the advice given makes it fit."""

from __future__ import annotations

import re

import pytest
from tests.unit.dry_run.papers import VLLM, reckoned

from toolorchestra.dry_run.advice import refuse_unless_it_fits

SHARED = (*VLLM, "rollout.vllm.first_gpu=0")


def refusal(*overrides: str) -> str:
    with pytest.raises(ValueError) as caught:
        refuse_unless_it_fits(reckoned(*overrides))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_fits_is_let_through():
    refuse_unless_it_fits(reckoned())
    refuse_unless_it_fits(reckoned(*VLLM))


def test_the_largest_part_is_named_with_its_size_and_a_cure():
    assert refusal("trainer.zero_stage=1") == (
        "dry_run.gpu: 'h100_80gb' is too small; in a layer's backward pass, a training rank needs "
        "93.8 GiB of 79.1, most of it for gradients (45.8); use trainer.zero_stage=2"
    )


@pytest.mark.parametrize(
    ("overrides", "largest"),
    [
        (("trainer.zero_stage=0",), "optimizer states"),
        (("trainer.activation_checkpointing=false",), "activations"),
        (("trainer.micro_batch_tokens=131072",), "activations"),
        (("trainer.devices=1",), "optimizer states"),
        (("trainer.devices=2", "trainer.activation_checkpointing=false"), "activations"),
        (("trainer.strategy=single", "trainer.devices=1", "model.dtype=float32"), "optimizer"),
        (("model.dtype=float32",), "weights"),
    ],
)
def test_the_cure_cures(overrides, largest):
    told = refusal(*overrides)
    assert f"most of it for {largest}" in told
    cure = told.rpartition("; use ")[2].split(" ")
    assert all(re.fullmatch(r"(trainer|model)\.\w+=\w+", change) for change in cure)
    refuse_unless_it_fits(reckoned(*overrides, *cure))


def test_where_nothing_helps_another_gpu_is_asked_for():
    assert refusal("dry_run.reserve_gib=79").endswith("a GPU with more memory, or a smaller model")


def test_workers_that_sit_on_gpus_that_train_are_sent_elsewhere():
    told = refusal(*SHARED)
    assert told.startswith("rollout.vllm.first_gpu: 0 is not allowed; on a GPU that trains too, ")
    assert "use 8 (trainer.devices)" in told
    sharing = ("rollout.vllm.sleep=true", "rollout.vllm.kv_cache_gib=20")
    refuse_unless_it_fits(reckoned(*SHARED, *sharing))


def test_more_keys_and_values_than_a_gpu_holds_are_refused_with_the_most():
    told = refusal(*VLLM, "rollout.vllm.kv_cache_gib=70")
    assert told == (
        "rollout.vllm.kv_cache_gib: 70 is not allowed; a worker then takes 89.3 GiB of 79.1, use 0 "
        "or less than 59.8"
    )


def test_too_little_room_for_one_rollout_is_refused():
    told = refusal(*VLLM, "rollout.vllm.kv_cache_gib=4")
    # 32,000 x 147,456 B = 4.39 GiB
    assert told.startswith("rollout.vllm.tensor_parallel: 1 is not allowed; beside 15.3 GiB of")
    assert "have 4.0 GiB, and a rollout of 32,000 tokens (model.max_context) needs 4.4" in told
