"""From token losses to one number: a sum, divided once by a count of the whole batch.

The count is global (all micro-batches, all ranks) and known before the first forward pass. So N
micro-batches on D ranks add up to the gradient of one big batch, whatever their lengths.
"""

from __future__ import annotations

from torch import Tensor

from toolorchestra.algorithm.segments import masked, segment_mean

# T: tokens of a micro-batch, padded or packed, flattened


def aggregate(
    loss_T: Tensor,
    mask_T: Tensor,
    sequences_T: Tensor,
    *,
    num_sequences: int,
    kind: str,
    denominator: float,
) -> Tensor:
    """This micro-batch's share of the loss; add the shares up, do not average them.

    Args:
        loss_T: Loss of each token.
        mask_T: True on loss tokens.
        sequences_T: Sequence number of each token within the micro-batch.
        num_sequences: How many sequences the micro-batch holds.
        kind: "token_mean" and "dr_grpo" sum tokens; "sequence_mean" sums the sequences' means.
        denominator: From `global_denominator`.

    Returns:
        A scalar; exactly 0, with finite gradients, where all is masked.
    """
    if kind == "sequence_mean":
        return segment_mean(loss_T, mask_T, sequences_T, num_sequences).sum() / denominator
    return masked(loss_T, mask_T).sum() / denominator


def global_denominator(kind: str, *, num_tokens: int, num_sequences: int, max_tokens: int) -> float:
    """What the summed loss of a whole batch is divided by; at least 1.

    Args:
        kind: "token_mean": the loss tokens; "sequence_mean": the sequences that hold any;
            "dr_grpo": those sequences times the most tokens that one could have had.
        num_tokens: Loss tokens of the whole batch, all micro-batches and ranks.
        num_sequences: Sequences of the whole batch with at least one loss token.
        max_tokens: The sampling limit of one sequence.

    Raises:
        ValueError: An unknown kind.
    """
    counts = {
        "token_mean": num_tokens,
        "sequence_mean": num_sequences,
        "dr_grpo": num_sequences * max_tokens,
    }
    if kind not in counts:
        raise ValueError(f"aggregation {kind!r} is not allowed; use one of {', '.join(counts)}")
    return float(max(counts[kind], 1))
