"""Sums and means over the sequences of a flat run of tokens.

All losses work on flat tensors: a padded batch is flattened, a packed one already is flat, and both
give the same numbers. A tensor of sequence numbers says which token belongs to which sequence.
"""

from __future__ import annotations

import torch
from torch import Tensor

# T: tokens of a micro-batch, padded or packed, flattened. S: its sequences


def upcast(values: Tensor) -> Tensor:
    """Half-precision values as float32, others as they are: sums are never taken in bfloat16."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values


def masked(values_T: Tensor, mask_T: Tensor) -> Tensor:
    """The values where the mask is true, else an exact 0 with gradient 0, even in place of NaN."""
    return torch.where(mask_T, upcast(values_T), 0.0)


def segment_sum(values_T: Tensor, sequences_T: Tensor, num_sequences: int) -> Tensor:
    """Sum of the values of each sequence.

    Args:
        values_T: One value a token.
        sequences_T: Sequence number, 0..S-1, of each token (int64).
        num_sequences: S.

    Returns:
        Shape [S].
    """
    return values_T.new_zeros(num_sequences).index_add(0, sequences_T, values_T)


def segment_mean(
    values_T: Tensor, mask_T: Tensor, sequences_T: Tensor, num_sequences: int
) -> Tensor:
    """Mean over the loss tokens of each sequence, shape [S]; 0 where a sequence has none."""
    values_T = masked(values_T, mask_T)
    sums_S = segment_sum(values_T, sequences_T, num_sequences)
    counts_S = segment_sum(mask_T.to(values_T.dtype), sequences_T, num_sequences)
    return sums_S / counts_S.clamp(min=1)
