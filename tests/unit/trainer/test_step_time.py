"""The time of a step by hand, with round figures and with Qwen3-8B's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.trainer.shapes import QWEN3_8B

from toolorchestra.trainer.flops import Costs, costs_of
from toolorchestra.trainer.step_time import (
    Samplers,
    Work,
    sampling_phases,
    transfer_phase,
    update_phase,
)

WORK = Work(
    num_groups=2, group_size=4, num_tokens=100, num_prompt=40, num_sampled=20, num_turns=3,
    tool_s=5.0,
)  # fmt: skip
COSTS = Costs(per_token=30.0, per_pair=0.0, per_loss_token=6.0)
SAMPLERS = Samplers(
    num_workers=2,
    gpus_each=1,
    num_at_once=8,
    weight_bytes=1000.0,
    kv_per_token=2.0,
    bytes_per_s=100.0,
    flops_per_s=10.0,
)


def update_s(work=WORK, costs=COSTS, **changes):
    options = {
        "num_ranks": 2, "flops_per_s": 10.0, "micro_batch_tokens": 1000, "shares_prefixes": True,
        "is_checkpointed": False,
    }  # fmt: skip
    return update_phase(work, costs, **(options | changes)).seconds


def sampling_s(work=WORK, **changes):
    phases = sampling_phases(work, replace(SAMPLERS, **changes), COSTS)
    return {phase.name: phase.seconds for phase in phases}


def test_sampling_by_hand():
    seconds = sampling_s()
    # 8 rollouts x 100 tokens x 10 forward, of which 80 of 100 are not sampled; 2 GPUs x 10
    assert seconds["prefill"] == pytest.approx(8 * 1000 * 0.8 / 20)
    # each of 20 tokens reads the weights, and 4 rollouts' 100 tokens of 2 bytes
    assert seconds["decode"] == pytest.approx(20 * (1000 + 4 * 100 * 2) / 100)
    assert seconds["tools"] == 3 * 5


def test_rollouts_that_do_not_fit_in_at_once_take_turns():
    seconds = sampling_s(num_at_once=4)
    assert seconds["decode"] == pytest.approx(2 * 20 * (1000 + 2 * 100 * 2) / 100)
    assert seconds["tools"] == 2 * 15
    assert sampling_s(num_at_once=100) == sampling_s()


def test_an_update_by_hand():
    # 2 groups: one prompt of 40 and 4 rests of 60 tokens, 30 each; 8 x 20 logits, 6 x 4/3 each.
    layers, head = 2 * (40 + 4 * 60) * 30, 8 * 20 * 8
    assert update_s() == pytest.approx((layers + head) / 20)
    assert update_s(is_checkpointed=True) == pytest.approx((layers * 4 / 3 + head) / 20)
    assert update_s(has_reference=True) == pytest.approx((layers * 4 / 3 + head * 5 / 4) / 20)
    assert update_s(num_ranks=4) == pytest.approx(update_s() / 2)


def test_a_prompt_is_computed_in_every_micro_batch_that_its_group_is_cut_into():
    head = 8 * 20 * 8
    # 280 tokens of a group in parts of 100: three prompts; unshared, one for each rollout
    cut = (2 * (3 * 40 + 4 * 60) * 30 + head) / 20
    assert update_s(micro_batch_tokens=100) == pytest.approx(cut)
    assert update_s(shares_prefixes=False) == pytest.approx((2 * 4 * 100 * 30 + head) / 20)


def test_qwen3_8b_on_eight_h100_by_hand():
    # 128 rollouts of 12,000 tokens: 6 x 6.946e9 weights x 1.536e6 tokens = 6.40e16, and
    # 12 x 4096 x 36 x 7.2e7 pairs x 128 = 1.63e16, and 6 x 6.22e8 x 128 x 3,000 x 4/3 = 0.19e16.
    # On 8 x 989e12 at 40 %: 26.0 s.
    work = Work(
        num_groups=16, group_size=8, num_tokens=12_000, num_prompt=3_000, num_sampled=3_000,
        num_turns=8, tool_s=10.0,
    )  # fmt: skip
    options = {"num_ranks": 8, "flops_per_s": 0.4 * 989e12, "micro_batch_tokens": 32_768}
    seconds = update_s(work, costs_of(QWEN3_8B), shares_prefixes=False, **options)
    assert seconds == pytest.approx(26.0, abs=0.1)
    # A decoded token reads 16.4 GB, and 16 x 12,000 x 147,456 B = 28.3 GB, at 3.35e12 B/s: 13.3 ms.
    samplers = Samplers(
        num_workers=8, gpus_each=1, num_at_once=128, weight_bytes=2 * 8_190_735_360,
        kv_per_token=147_456, bytes_per_s=3.35e12, flops_per_s=0.4 * 989e12,
    )  # fmt: skip
    _, decode, tools = sampling_phases(work, samplers, costs_of(QWEN3_8B))
    assert decode.seconds == pytest.approx(3_000 * 13.34e-3, rel=0.01)
    assert tools.seconds == 80


def test_weights_to_workers_are_bytes_over_bytes_a_second():
    phase = transfer_phase(2 * 8_190_735_360, bytes_per_s=50e9)
    assert phase.seconds == pytest.approx(0.33, abs=0.01)
    assert phase.how == "16.4 GB / 50 GB/s"
