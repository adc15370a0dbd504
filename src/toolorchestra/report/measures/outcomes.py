"""How a policy's trials ended: solved, cut off, void or unscored, as shares of all of them."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.stats import accuracy
from toolorchestra.report.table import Cell, Table

CUT_OFF = ("max_turns", "context_full", "truncated", "over_budget")
"""Statuses of trials that ended before the policy answered."""
NOTE = (
    '"All n" counts what is void or unscored as not solved, "scored" leaves it out. Shares of '
    "status are of all n; an unscored trial ended as its status says, but no judge decided it."
)


def outcomes_table(evaluation: Evaluation, world: str) -> Table:
    """One row a policy: accuracy over all n and over the scored n, and percent by status."""
    played = {
        policy: results
        for policy in evaluation.policies
        if policy != ORACLE_BOUND and (results := evaluation.of(policy, world))
    }
    seen = {result.status for results in played.values() for result in results}
    statuses = ["answered", *(status for status in CUT_OFF if status in seen), "void"]
    rows = [(policy, *_row(results, statuses)) for policy, results in played.items()]
    return Table(
        title=f"{world} world: how trials ended",
        columns=(
            *("policy", "n", "accuracy, all n", "scored n", "accuracy, scored"),
            *(f"{status} %" for status in statuses),
            "unscored %",
        ),
        rows=tuple(rows),
        digits={
            "accuracy, all n": 3,
            "accuracy, scored": 3,
            **{f"{status} %": 1 for status in (*statuses, "unscored")},
        },
        note=f"{NOTE} {evaluation.note}".strip(),
    )


def _row(results: Sequence[Result], statuses: Sequence[str]) -> tuple[Cell, ...]:
    scored = [result for result in results if result.is_solved is not None]
    num_void = sum(result.status == "void" for result in results)
    num_unscored = len(results) - len(scored) - num_void
    return (
        len(results),
        _accuracy(results),
        len(scored),
        _accuracy(scored) if scored else None,
        *(100 * sum(r.status == status for r in results) / len(results) for status in statuses),
        100 * num_unscored / len(results),
    )


def _accuracy(results: Sequence[Result]) -> Cell:
    return accuracy([r.is_solved or 0.0 for r in results], clusters=[r.episode for r in results])
