import torch

from toolorchestra.algorithm.metrics import collect


def stats(values, mask):
    values_T = torch.tensor(values)
    return collect({"x": values_T}, {"x_max": values_T}, torch.tensor(mask, dtype=torch.bool))


def test_means_run_over_tokens_not_over_micro_batches():
    # (1 + 2 + 3 + 10) / 4 = 4, not the mean of 2 and 10.
    total = stats([1.0, 2.0, 3.0], [1, 1, 1]) + stats([10.0, 99.0], [1, 0])
    assert total.means() == {"x": 4.0, "x_max": 10.0}


def test_without_tokens_everything_is_zero():
    assert stats([float("nan")], [0]).means() == {"x": 0.0, "x_max": 0.0}
    assert stats([], []).means() == {"x": 0.0, "x_max": 0.0}


def test_flags_average_to_fractions():
    flags_T = torch.tensor([True, False, True, True])
    out = collect({"share": flags_T}, {}, torch.tensor([1, 1, 1, 0]).bool())
    assert out.means()["share"] == 2 / 3
