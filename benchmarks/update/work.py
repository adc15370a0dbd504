"""How much there is to compute: tokens that are distinct, and operations of our way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.update.ours import trainer_config
from benchmarks.update.workload import Workload
from toolorchestra.trainer.flops import costs_of
from toolorchestra.trainer.plan import plan_micro_batches
from toolorchestra.trainer.tree import token_tree


@dataclass(frozen=True, kw_only=True)
class Work:
    """Of one update as we plan it."""

    tokens: int
    """Tokens that pass through the model."""
    pairs: int
    """Of a token and one that it attends to, itself included."""
    loss_tokens: int
    micro_batches: int
    flops: float
    """Forward and backward, by the project's own count."""


def work_of(workload: Workload, config: Any) -> Work:
    """Counts what our side computes.

    Args:
        workload: Its rows.
        config: The model's, as transformers has it.
    """
    costs = costs_of(config)
    rows = workload.rows
    options = trainer_config(workload)
    (plan,) = plan_micro_batches(
        rows, num_ranks=1, max_tokens=options.micro_batch_tokens, costs=costs
    )
    trees = [token_tree([rows[r].row.ids for r in members]) for members in plan]
    tokens = sum(tree.num_tokens for tree in trees)
    pairs = sum(int((tree.positions_L + 1).sum()) for tree in trees)
    loss_tokens = sum(item.num_loss_tokens for item in rows)
    flops = costs.per_token * tokens + costs.per_pair * pairs + costs.per_loss_token * loss_tokens
    return Work(
        tokens=tokens,
        pairs=pairs,
        loss_tokens=loss_tokens,
        micro_batches=len(plan),
        flops=flops,
    )


def num_unique(sequences: Iterable[Sequence[int]]) -> int:
    """Distinct prefixes of all sequences: the fewest tokens that must be computed.

    A trie in plain Python, so as to owe nothing to what it judges.
    """
    children: dict[tuple[int, int], int] = {}
    for sequence in sequences:
        node = 0
        for token in sequence:
            node = children.setdefault((node, token), len(children) + 1)
    return len(children)
