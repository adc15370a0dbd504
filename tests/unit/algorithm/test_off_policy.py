import pytest
import torch

from toolorchestra.algorithm.off_policy import geometric_mask, truncated_weights


def test_token_weights_are_truncated_above_alone():
    # Ratios 0.5, 1.5, 4 with cap 2; the masked token weighs 1.
    logprobs_T = torch.tensor([0.5, 1.5, 4.0, 9.0]).log()
    mask_T = torch.tensor([True, True, True, False])
    weights_T = truncated_weights(logprobs_T, torch.zeros(4), mask_T, cap=2.0)
    assert weights_T.tolist() == pytest.approx([0.5, 1.5, 2.0, 1.0])


def test_sequences_that_drifted_are_masked_whole():
    # Mean log-ratios 0, 0.5 (e^0.5 = 1.65 > 1.25), -0.2 (0.82, the masked -9 aside), -0.3 (0.74).
    gaps_T = torch.tensor([0.4, -0.4, 0.5, 0.5, -0.1, -0.3, -9.0, -0.3])
    sequences_T = torch.tensor([0, 0, 1, 1, 2, 2, 2, 3])
    mask_T = torch.tensor([1, 1, 1, 1, 1, 1, 0, 1]).bool()
    kept_T = geometric_mask(
        gaps_T, torch.zeros(8), mask_T, sequences_T, num_sequences=4, low=0.8, high=1.25
    )
    assert kept_T.tolist() == [True, True, False, False, True, True, False, False]


def test_the_geometric_mean_does_not_depend_on_length():
    for length in (1, 10, 1000):
        mask_T = torch.ones(length, dtype=torch.bool)
        kept_T = geometric_mask(
            torch.full((length,), 0.2),
            torch.zeros(length),
            mask_T,
            torch.zeros(length, dtype=torch.int64),
            num_sequences=1,
            low=0.8,
            high=1.25,
        )
        assert kept_T.all()


def test_corrections_carry_no_gradient():
    logprobs_T = torch.tensor([0.1], requires_grad=True)
    weights_T = truncated_weights(logprobs_T, torch.zeros(1), torch.tensor([True]), cap=2.0)
    assert not weights_T.requires_grad
