import pytest
import torch

from toolorchestra.algorithm.aggregate import aggregate, global_denominator

# Two sequences: losses 1, 3 and 10 (and a masked 99).
LOSS_T = torch.tensor([1.0, 3.0, 10.0, 99.0])
MASK_T = torch.tensor([True, True, True, False])
SEQUENCES_T = torch.tensor([0, 0, 1, 1])


def share(kind, denominator, mask_T=MASK_T):
    return aggregate(
        LOSS_T, mask_T, SEQUENCES_T, num_sequences=2, kind=kind, denominator=denominator
    ).item()


def test_three_aggregations_worked_out_by_hand():
    counts = {"num_tokens": 3, "num_sequences": 2, "max_tokens": 7}
    # (1 + 3 + 10) / 3; ((1 + 3) / 2 + 10) / 2; 14 / (2 * 7)
    assert share("token_mean", global_denominator("token_mean", **counts)) == pytest.approx(14 / 3)
    assert share("sequence_mean", global_denominator("sequence_mean", **counts)) == 6.0
    assert share("dr_grpo", global_denominator("dr_grpo", **counts)) == 1.0


@pytest.mark.parametrize("kind", ["token_mean", "sequence_mean", "dr_grpo"])
def test_an_empty_batch_divides_by_one(kind):
    denominator = global_denominator(kind, num_tokens=0, num_sequences=0, max_tokens=7)
    assert denominator == 1.0
    assert share(kind, denominator, torch.zeros(4, dtype=torch.bool)) == 0.0


def test_an_unknown_aggregation_is_named():
    with pytest.raises(ValueError, match="'mean' is not allowed; use one of token_mean"):
        global_denominator("mean", num_tokens=1, num_sequences=1, max_tokens=1)
