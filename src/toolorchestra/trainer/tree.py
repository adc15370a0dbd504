"""Token sequences as one tree: what several of them begin with stands there once.

The rollouts of a group begin with the same prompt, rows of one rollout with the same turns, and
rollouts that said the same go on alike. The tokens of the tree stand in one line, each sequence's
own after those of the sequence that it branches off. Every token attends to its ancestors alone, so
that loss and gradient are those of the sequences written out in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# L: tokens of the tree


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenTree:
    """Tokens in depth-first order."""

    ids_L: Ints
    positions_L: Ints
    """Distance from the root: the position that the token has in its sequences."""
    ends_L: Ints
    """Where each token's descendants end: token j is an ancestor of i, or i itself, where
    j <= i < ends_L[j]."""
    paths: tuple[Ints, ...]
    """Of each sequence, in the order given: where its tokens stand in the line."""
    own: tuple[int, ...]
    """How many tokens at each path's end stand there for the first time."""

    @property
    def num_tokens(self) -> int:
        """Tokens that a model computes."""
        return len(self.ids_L)


def token_tree(sequences: Sequence[Sequence[int]], *, share: bool = True) -> TokenTree:
    """Lays out sequences, at least one and none of them empty.

    Args:
        sequences: Token ids.
        share: Whether what they have in common stands there once.
    """
    rows = [np.asarray(sequence, dtype=np.int64) for sequence in sequences]
    order = list(range(len(rows)))
    if share:  # those that begin alike come to stand side by side
        order.sort(key=lambda r: tuple(sequences[r]))
    paths: list[Ints] = [np.empty(0, np.int64)] * len(rows)
    own = [0] * len(rows)
    ids: list[Ints] = []
    positions: list[Ints] = []
    ends = np.empty(sum(map(len, rows)), np.int64)
    before, path, size = np.empty(0, np.int64), np.empty(0, np.int64), 0
    for r in order:
        row = rows[r]
        shared = common_prefix(before, row) if share else 0
        ends[path[shared:]] = size
        fresh = np.arange(size, size + len(row) - shared)
        path = np.concatenate([path[:shared], fresh])
        paths[r], own[r] = path, len(fresh)
        ids.append(row[shared:])
        positions.append(np.arange(shared, len(row)))
        before, size = row, size + len(fresh)
    ends[path] = size
    return TokenTree(
        ids_L=np.concatenate(ids),
        positions_L=np.concatenate(positions),
        ends_L=ends[:size],
        paths=tuple(paths),
        own=tuple(own),
    )


def common_prefix(first: Sequence[int] | Ints, second: Sequence[int] | Ints) -> int:
    """How many tokens two sequences begin with alike."""
    size = min(len(first), len(second))
    differs = np.flatnonzero(np.asarray(first[:size]) != np.asarray(second[:size]))
    return int(differs[0]) if len(differs) else size
