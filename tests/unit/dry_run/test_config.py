import pytest

from toolorchestra.dry_run.config import DryRunConfig
from toolorchestra.dry_run.gpus import GPUS, gpu_of


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mfu": 0.0}, "dry_run.mfu: 0.0 is not allowed; use a share above 0, at most 1"),
        ({"bandwidth_use": 1.5}, "dry_run.bandwidth_use: 1.5 is not allowed"),
        ({"prompt_share": 1.0}, "dry_run.prompt_share: 1.0 is not allowed; use a share above 0, b"),
        ({"prompt_share": 0.9}, "dry_run.sampled_share: 0.25 is not allowed; use at most 0.1"),
        ({"tool_s": -1.0}, "dry_run.tool_s: -1.0 is not allowed; use a number from 0"),
        ({"reserve_gib": float("inf")}, "dry_run.reserve_gib: inf is not allowed"),
        ({"num_turns": 0}, "dry_run.num_turns: 0 is not allowed; use a whole number from 1"),
        ({"rollout_tokens": 3}, "dry_run.rollout_tokens: 3 is not allowed; use 4 or more, or null"),
        ({"transfer_gb_per_s": 0.0}, "dry_run.transfer_gb_per_s: 0.0 is not allowed; use more"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(changes, message):
    with pytest.raises(ValueError) as caught:
        DryRunConfig(**changes)
    assert str(caught.value).startswith(message)


def test_a_run_is_no_dry_run_unless_a_gpu_is_named():
    assert DryRunConfig().gpu is None


def test_a_gpu_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match="dry_run.gpu: 'b200' is not allowed; use h100_80gb, h200"):
        gpu_of("b200")


def test_gpus_have_the_figures_of_their_data_sheets():
    h100, h200, a100 = (GPUS[name] for name in ("h100_80gb", "h200_141gb", "a100_80gb"))
    assert [gpu.peak_tflops["bfloat16"] for gpu in (h100, h200, a100)] == [989, 989, 312]
    assert [gpu.bandwidth_tb_per_s for gpu in (h100, h200, a100)] == [3.35, 4.8, 2.04]
    assert h100.memory_bytes == pytest.approx(84.9e9, abs=0.1e9)
