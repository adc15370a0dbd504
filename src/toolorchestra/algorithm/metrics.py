"""Statistics of a step that add up over micro-batches and ranks.

Means of means are wrong when micro-batches differ in length, so that sums, maxima and one count are
kept, and divided at the end. With no token at all every mean is 0, never NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

# T: tokens of a micro-batch, padded or packed, flattened


@dataclass(frozen=True, kw_only=True, slots=True)
class LossStats:
    """Statistics of some loss tokens; `+` joins two sets of tokens."""

    num_tokens: Tensor
    sums: Mapping[str, Tensor]
    """Over loss tokens, by metric. Across ranks: all-reduce by sum, like `num_tokens`."""
    maxima: Mapping[str, Tensor]
    """Across ranks: all-reduce by maximum. Values are 0 or more."""

    def __add__(self, other: LossStats) -> LossStats:
        assert self.sums.keys() == other.sums.keys(), "statistics of different losses"
        return LossStats(
            num_tokens=self.num_tokens + other.num_tokens,
            sums={key: value + other.sums[key] for key, value in self.sums.items()},
            maxima={
                key: torch.maximum(value, other.maxima[key]) for key, value in self.maxima.items()
            },
        )

    def means(self) -> dict[str, float]:
        """The mean of every sum over the tokens, and the maxima."""
        count = max(float(self.num_tokens), 1.0)
        means = {key: float(value) / count for key, value in self.sums.items()}
        return means | {key: float(value) for key, value in self.maxima.items()}


@torch.no_grad()
def collect(
    values: Mapping[str, Tensor], maxima: Mapping[str, Tensor], mask_T: Tensor
) -> LossStats:
    """Statistics of one micro-batch.

    Args:
        values: Token values [T] by metric, to be averaged.
        maxima: Token values [T], 0 or more, whose greatest is wanted.
        mask_T: True on loss tokens.
    """
    return LossStats(
        num_tokens=mask_T.sum().double(),
        sums={k: torch.where(mask_T, v.double(), 0.0).sum() for k, v in values.items()},
        maxima={
            k: torch.cat([torch.where(mask_T, v.double(), 0.0), v.new_zeros(1).double()]).max()
            for k, v in maxima.items()
        },
    )
