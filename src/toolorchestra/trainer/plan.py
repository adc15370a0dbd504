"""Which rank computes which rows in which micro-batch.

Planned over all ranks at once, and alike on each, so that every rank has the same number of
micro-batches and about the same work. Each row stands in exactly one. A rank with fewer rows than
micro-batches computes an empty one: its collective operations are still waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.flops import Costs
from toolorchestra.trainer.tree import common_prefix

MicroBatchPlan = tuple[int, ...]
"""Numbers of its rows; empty for one that only keeps step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """Rows that are computed together."""

    rows: MicroBatchPlan
    num_tokens: int
    flops: float


def plan_micro_batches(
    rows: Sequence[TrainingRow],
    *,
    num_ranks: int,
    max_tokens: int,
    costs: Costs,
    share_prefixes: bool = True,
) -> list[list[MicroBatchPlan]]:
    """Plans one update.

    Args:
        rows: At least one.
        num_ranks: Ranks that share the work.
        max_tokens: Most tokens of a micro-batch, shared ones counted once.
        costs: What tokens cost.
        share_prefixes: Whether what rows begin with alike is computed once.

    Returns:
        For each rank its micro-batches, as many as every other rank has.

    Raises:
        ValueError: One row alone exceeds the budget.
    """
    longest = max(rows, key=lambda item: len(item.row.ids))
    if len(longest.row.ids) > max_tokens:
        raise ValueError(
            f"trainer.micro_batch_tokens: {max_tokens} is not allowed; rollout {longest.name} "
            f"alone has {len(longest.row.ids)} tokens"
        )
    pieces = list(_pieces(rows, max_tokens, costs, share_prefixes))
    total = sum(piece.num_tokens for piece in pieces)
    fair = max(-(-total // num_ranks), len(longest.row.ids))
    if fair < max_tokens:  # else one rank would have a big piece while others wait
        pieces = list(_pieces(rows, fair, costs, share_prefixes))
    pieces.sort(key=lambda piece: -piece.flops)
    per_rank = max(-(-total // (num_ranks * max_tokens)), 1)
    while True:
        bins, num_left = _fill(pieces, num_ranks * per_rank, max_tokens)
        if not num_left:
            return _deal(bins, num_ranks, per_rank)
        per_rank += max(num_left // (num_ranks * max_tokens), 1)


def _pieces(
    rows: Sequence[TrainingRow], max_tokens: int, costs: Costs, share_prefixes: bool
) -> Iterator[_Piece]:
    """The rows of each episode together, cut where the budget ends."""
    for _, group in groupby(range(len(rows)), key=lambda r: rows[r].name.rpartition("/")[0]):
        members: list[int] = []
        num_tokens, flops = 0, 0.0
        before: tuple[int, ...] = ()
        for r in sorted(group, key=lambda r: rows[r].row.ids):
            ids = rows[r].row.ids
            shared = common_prefix(before, ids) if share_prefixes else 0
            if members and num_tokens + len(ids) - shared > max_tokens:
                yield _Piece(rows=tuple(members), num_tokens=num_tokens, flops=flops)
                members, num_tokens, flops, shared = [], 0, 0.0, 0
            members.append(r)
            num_tokens += len(ids) - shared
            flops += costs.of(shared, len(ids), rows[r].num_loss_tokens)
            before = ids
        yield _Piece(rows=tuple(members), num_tokens=num_tokens, flops=flops)


def _fill(pieces: Sequence[_Piece], num_bins: int, max_tokens: int) -> tuple[list[_Piece], int]:
    """Each piece, the heaviest first, to the lightest bin that has room; and how many tokens found
    none."""
    rows: list[MicroBatchPlan] = [()] * num_bins
    num_tokens = np.zeros(num_bins, np.int64)
    flops = np.zeros(num_bins)
    num_left = 0
    for piece in pieces:
        has_room = num_tokens + piece.num_tokens <= max_tokens
        if not has_room.any():
            num_left += piece.num_tokens
            continue
        lightest = int(np.where(has_room, flops, np.inf).argmin())
        rows[lightest] += piece.rows
        num_tokens[lightest] += piece.num_tokens
        flops[lightest] += piece.flops
    bins = [
        _Piece(rows=rows[b], num_tokens=int(num_tokens[b]), flops=float(flops[b]))
        for b in range(num_bins)
    ]
    return bins, num_left


def _deal(bins: Sequence[_Piece], num_ranks: int, per_rank: int) -> list[list[MicroBatchPlan]]:
    """Bins to ranks, the heaviest first, so that those computed at the same time are alike."""
    hands: list[list[MicroBatchPlan]] = [[] for _ in range(num_ranks)]
    loads = [0.0] * num_ranks
    for piece in sorted(bins, key=lambda piece: -piece.flops):
        open_hands = [rank for rank in range(num_ranks) if len(hands[rank]) < per_rank]
        rank = min(open_hands, key=lambda rank: loads[rank])
        hands[rank].append(piece.rows)
        loads[rank] += piece.flops
    return hands
