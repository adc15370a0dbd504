import torch

from toolorchestra.algorithm.segments import masked, segment_mean, segment_sum, upcast

SEQUENCES_T = torch.tensor([0, 0, 1, 2, 2, 2])
MASK_T = torch.tensor([1, 1, 0, 1, 0, 1]).bool()
VALUES_T = torch.tensor([1.0, 3.0, 100.0, 4.0, 100.0, 8.0])


def test_sums_and_means_of_each_sequence():
    assert segment_sum(VALUES_T, SEQUENCES_T, 3).tolist() == [4.0, 100.0, 112.0]
    # Masked tokens are left out; the second sequence has none left.
    assert segment_mean(VALUES_T, MASK_T, SEQUENCES_T, 3).tolist() == [2.0, 0.0, 6.0]


def test_masked_positions_may_hold_nan_without_spoiling_value_or_gradient():
    values_T = torch.tensor([1.0, float("nan")], requires_grad=True)
    kept_T = masked(values_T, torch.tensor([True, False]))
    kept_T.sum().backward()
    assert kept_T.tolist() == [1.0, 0.0]
    assert values_T.grad.tolist() == [1.0, 0.0]


def test_half_precision_is_summed_in_float32():
    # In bfloat16, 256 + 1 = 256.
    values_T = torch.tensor([256.0] + [1.0] * 64, dtype=torch.bfloat16)
    mask_T = torch.ones(65, dtype=torch.bool)
    total = segment_sum(masked(values_T, mask_T), torch.zeros(65, dtype=torch.int64), 1)
    assert total.dtype == torch.float32
    assert total.item() == 320.0
    assert upcast(torch.zeros(1, dtype=torch.float64)).dtype == torch.float64
