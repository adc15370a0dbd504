"""What another judge makes of an evaluation: how many verdicts it changes, and which."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from toolorchestra.benchmark.evaluate import Trial
from toolorchestra.report.table import Cell, Table
from toolorchestra.types import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Twice:
    """A trial as it was judged, and as it is judged anew."""

    before: Trial
    after: Trial

    @property
    def is_changed(self) -> bool:
        """Whether the verdicts differ."""
        return _solved(self.before.verdict) is not _solved(self.after.verdict)


@dataclass(slots=True)
class _Row:
    """How many trials of a policy in a world went from one verdict to another."""

    moves: dict[tuple[bool | None, bool | None], int] = field(default_factory=dict)

    def count(self, before: Iterable[bool | None], after: Iterable[bool | None]) -> int:
        """Trials that were one of `before` and are one of `after`."""
        return sum(self.moves.get((one, two), 0) for one in before for two in after)


class Changes:
    """Counts what changes, trial by trial; keeps no rollout."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], _Row] = {}

    def take(self, twice: Twice) -> None:
        """Takes one more trial."""
        result = twice.before.result
        row = self._rows.setdefault((result.world, result.policy), _Row())
        move = _solved(twice.before.verdict), _solved(twice.after.verdict)
        row.moves[move] = row.moves.get(move, 0) + 1

    def table(self) -> Table:
        """One row for each policy in each world."""
        rows = [(world, policy, *_cells(row)) for (world, policy), row in self._rows.items()]
        return Table(
            title="What the other judge changes",
            columns=(
                "world",
                "policy",
                "trials",
                "wrong to right",
                "right to wrong",
                "decided now",
                "undecided now",
                "accuracy before",
                "accuracy now",
            ),
            rows=tuple(rows),
            digits={"accuracy before": 3, "accuracy now": 3},
            note="Accuracy is of the trials that are decided. Void trials, and tasks of domains, "
            "which are verified and not judged, stay as they were.",
        )


def _cells(row: _Row) -> tuple[Cell, ...]:
    every, decided = (True, False, None), (True, False)
    return (
        row.count(every, every),
        row.count([False], [True]),
        row.count([True], [False]),
        row.count([None], decided),
        row.count(decided, [None]),
        _share(row.count([True], every), row.count(decided, every)),
        _share(row.count(every, [True]), row.count(every, decided)),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def changed_lines(items: Iterable[Twice]) -> Iterator[str]:
    """One JSON line for each trial whose verdict changes, with both verdicts."""
    for item in items:
        if item.is_changed:
            result, task = item.before.result, item.before.episode.task
            line = {
                "world": result.world,
                "policy": result.policy,
                "episode": result.episode,
                "task": task.id,
                "trial": result.trial,
                "question": task.question,
                "answer": task.answer,
                "given": item.before.rollout.answer,
                "before": _told(item.before.verdict),
                "after": _told(item.after.verdict),
            }
            yield json.dumps(line, ensure_ascii=False) + "\n"


def _told(verdict: Verdict | None) -> dict[str, object] | None:
    if verdict is None:
        return None
    return {
        "is_solved": verdict.is_solved,
        "decided_by": verdict.decided_by,
        "reason": verdict.reason,
    }


def _solved(verdict: Verdict | None) -> bool | None:
    return None if verdict is None else verdict.is_solved
