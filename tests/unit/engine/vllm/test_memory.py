"""Room for keys and values on a worker's GPU, by hand."""

from __future__ import annotations

import pytest
from tests.unit.trainer.shapes import QWEN3_8B

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.memory import GIB, kv_per_token, worker_memory


def worker(config=None, *, gpu_gib=79.1, **changes):
    options = {"num_bytes": 2, "gpu_bytes": gpu_gib * GIB, "reserve": 4.0 * GIB}
    return worker_memory(QWEN3_8B, config or VllmConfig(), **(options | changes))


def test_a_token_of_qwen3_8b_takes_147456_bytes():
    # keys and values x 36 layers x 8 heads x 128 x 2 B
    assert kv_per_token(QWEN3_8B, 2) == 2 * 36 * 8 * 128 * 2 == 147_456
    assert kv_per_token(QWEN3_8B, 2, num_gpus=4) == 147_456 / 4
    assert kv_per_token(QWEN3_8B, 2, num_gpus=16) == 147_456 / 8  # each has one head at least


def test_what_vllm_leaves_beside_the_weights_holds_keys_and_values():
    # 0.92 x 79.1 - 15.26 - 4 = 53.51 GiB: 389,700 tokens
    found = worker()
    assert found.kv_cache / GIB == pytest.approx(53.51, abs=0.01)
    assert found.num_rollouts(32_000) == 12 and found.num_rollouts(12_000) == 32
    assert found.total / GIB == pytest.approx(0.92 * 79.1)


def test_two_gpus_share_weights_and_heads():
    found = worker(VllmConfig(tensor_parallel=2))
    assert found.weights == pytest.approx(worker().weights / 2)
    assert found.num_rollouts(32_000) == 27  # 61.14 GiB of 73,728 B a token


def test_stated_room_is_taken_as_it_is():
    found = worker(VllmConfig(kv_cache_gib=10.0))
    assert found.kv_cache == 10 * GIB and found.utilization is None
    assert found.total / GIB == pytest.approx(10 + 15.26 + 4, abs=0.01)


@pytest.mark.parametrize(
    "arguments",
    [["--gpu-memory-utilization", "0.5"], ["--seed=1", "--gpu-memory-utilization=0.5"]],
)
def test_vllms_own_argument_sets_its_share(arguments):
    assert worker(VllmConfig(extra_args=arguments)).total / GIB == pytest.approx(0.5 * 79.1)


def test_a_share_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="extra_args: --gpu-memory-utilization all is not allowed"):
        worker(VllmConfig(extra_args=["--gpu-memory-utilization", "all"]))


def test_a_model_that_exceeds_the_gpu_leaves_room_for_nothing():
    found = worker(gpu_gib=16)
    assert found.kv_cache < 0 and found.num_rollouts(1) == 0
