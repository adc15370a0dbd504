"""Training rows as tensors: a micro-batch is one line of tokens, what rows share stands there once.

Nothing is padded. The rows of a group share their prompt, those of one rollout its first turns;
loss and gradient are those of the rows written out in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from toolorchestra.trainer.tree import TokenTree, token_tree
from toolorchestra.types import Row

# L: tokens of the line, N: loss tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingRow:
    """One row with the advantage of its rollout."""

    row: Row
    advantage: float
    name: str
    """Rollout id, for messages about faults."""

    @property
    def num_loss_tokens(self) -> int:
        """Sampled tokens, save a row's very first: nothing stands before it to predict it."""
        return sum(self.row.loss_mask[1:])


@dataclass(frozen=True, kw_only=True, slots=True)
class MicroBatch:
    """Rows as a tree, and their loss tokens, row by row."""

    tree: TokenTree
    predictors_N: Tensor
    """Where in the line the token before each loss token stands: its logits predict it."""
    targets_N: Tensor
    rows_N: Tensor
    """Number of each loss token's row."""
    sampler_logprobs_N: Tensor
    advantages_N: Tensor
    names: tuple[str, ...]
    """Of the rows."""
    most_loss_tokens: int
    """Of the micro-batches that other ranks compute at the same time, and of this one: all must
    pass the output layer as often, or those that share out its weights would wait for each other.
    """

    @property
    def num_tokens(self) -> int:
        """Tokens that the model computes."""
        return self.tree.num_tokens


def make_micro_batch(
    rows: Sequence[TrainingRow], *, share_prefixes: bool = True, most_loss_tokens: int = 0
) -> MicroBatch:
    """Lays out rows, at least one.

    Args:
        rows: Of whichever groups.
        share_prefixes: Whether what rows begin with alike is computed once.
        most_loss_tokens: Of what other ranks compute at the same time.
    """
    tree = token_tree([item.row.ids for item in rows], share=share_prefixes)
    predicted = [np.flatnonzero(item.row.loss_mask[1:]) for item in rows]
    counts = torch.tensor([len(places) for places in predicted])
    logprobs = [np.asarray(item.row.logprobs, np.float32) for item in rows]
    ids = [np.asarray(item.row.ids, np.int64) for item in rows]
    advantages = torch.tensor([item.advantage for item in rows], dtype=torch.float32)
    return MicroBatch(
        tree=tree,
        predictors_N=_joined([path[at] for path, at in zip(tree.paths, predicted, strict=True)]),
        targets_N=_joined([row[at + 1] for row, at in zip(ids, predicted, strict=True)]),
        rows_N=torch.arange(len(rows)).repeat_interleave(counts),
        sampler_logprobs_N=_joined(
            [row[at + 1] for row, at in zip(logprobs, predicted, strict=True)]
        ),
        advantages_N=advantages.repeat_interleave(counts),
        names=tuple(item.name for item in rows),
        most_loss_tokens=max(most_loss_tokens, int(counts.sum())),
    )


def _joined(parts: Sequence[np.ndarray]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts))
