"""What a dry run shows beside its figures."""

from __future__ import annotations

from tests.unit.dry_run.papers import VLLM, reckoned

from toolorchestra.dry_run.tables import tables_of


def shown(*overrides: str) -> list[str]:
    return [table.to_markdown() for table in tables_of(reckoned(*overrides))]


def test_every_part_is_shown_with_when_it_is_held_and_how_it_is_reckoned():
    memory, time, assumed = shown()
    assert "| weights | 15.3 | always | 8,190,735,360 weights × 2 B |" in memory
    assert "| optimizer states | 7.6 | always | 8,190,735,360 weights × 8 B / 8 ranks |" in memory
    assert "| H100 SXM 80 GB | 79.1 |  | fits |" in memory
    assert "Sampling is left out" in time
    assert "| mfu | 0.4 | share of 989 TFLOP/s in bfloat16 |" in assumed
    assert "| rollout_tokens | 12,000 |" in assumed


def test_what_is_offloaded_is_told_below():
    memory, *_ = shown("trainer.offload_optimizer=true")
    assert "| optimizer states |" not in memory
    # 16 B of an eighth of the weights
    assert "And 15.3 GiB of the CPU's memory, for each rank." in memory


def test_a_worker_on_a_gpu_that_trains_shows_what_training_holds_there():
    memory, worker, *_ = shown(
        *VLLM, "rollout.vllm.first_gpu=0", "rollout.vllm.sleep=true", "rollout.vllm.kv_cache_gib=20"
    )
    assert "| reserve | 8.0 | always | dry_run.reserve_gib, and that of a worker |" in memory
    assert "| training, meanwhile | 34.5 | on the same GPU |" in worker
    assert "| keys and values | 20.0 | rollout.vllm.kv_cache_gib: 145,636 tokens |" in worker


def test_a_worker_of_several_gpus_divides_weights_and_heads():
    _, worker, *_ = shown(*VLLM, "rollout.vllm.tensor_parallel=4")
    assert "| weights | 3.8 | on each of 4 GPUs |" in worker
    assert "A token takes 36,864 B: 2 × 36 layers × 2 heads × 128 × 2 B." in worker


def test_what_is_too_small_is_said_in_the_table():
    assert "| H100 SXM 80 GB | 79.1 |  | too small |" in shown("trainer.zero_stage=1")[0]
