"""How far two judges agree: shares, Cohen's kappa, table of confusion, and where they differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from toolorchestra.report.samples import Sample
from toolorchestra.report.stats import bootstrap_mean, cohens_kappa
from toolorchestra.report.table import Table
from toolorchestra.types import Verdict

NAMES = {True: "right", False: "wrong", None: "unscored"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Twice:
    """One answer as two judges see it."""

    sample: Sample
    first: Verdict
    second: Verdict

    @property
    def is_scored(self) -> bool:
        """Whether both decided."""
        return self.first.is_solved is not None and self.second.is_solved is not None

    @property
    def is_agreed(self) -> bool:
        """Whether both say the same, be it that neither decided."""
        return self.first.is_solved is self.second.is_solved


def agreement_tables(items: Sequence[Twice], names: tuple[str, str]) -> list[Table]:
    """The figures of agreement, and the table of confusion with the first judge in rows."""
    return [_figures(items, names), _confusion(items, names)]


def _figures(items: Sequence[Twice], names: tuple[str, str]) -> Table:
    scored = [item for item in items if item.is_scored]
    tasks = [item.sample.task.question for item in scored]
    agreed = [float(item.is_agreed) for item in scored]
    kappa = cohens_kappa(
        [bool(item.first.is_solved) for item in scored],
        [bool(item.second.is_solved) for item in scored],
        clusters=tasks,
    )
    return Table(
        title=f"Agreement of {names[0]} and {names[1]}",
        columns=("answers", "both decided", "agreement", "kappa"),
        rows=(
            (
                len(items),
                len(scored),
                bootstrap_mean(agreed, clusters=tasks) if scored else None,
                kappa,
            ),
        ),
        digits={"agreement": 3, "kappa": 3},
        note="Intervals of 95 %, by a bootstrap over questions. Kappa is agreement beyond chance; "
        "it is not defined where both find all alike.",
    )


def _confusion(items: Sequence[Twice], names: tuple[str, str]) -> Table:
    counts = Counter((item.first.is_solved, item.second.is_solved) for item in items)
    return Table(
        title=f"{names[0]} in rows, {names[1]} in columns",
        columns=("", *NAMES.values(), "all"),
        rows=tuple(
            (
                name,
                *(counts[row, column] for column in NAMES),
                sum(counts[row, column] for column in NAMES),
            )
            for row, name in NAMES.items()
        ),
    )


def disagreements(items: Sequence[Twice]) -> str:
    """JSON lines of all answers on which the judges do not say the same."""
    lines = [
        {
            "id": item.sample.task.id,
            "question": item.sample.task.question,
            "answer": item.sample.task.answer,
            "given": item.sample.given,
            "first": _told(item.first),
            "second": _told(item.second),
        }
        for item in items
        if not item.is_agreed
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _told(verdict: Verdict) -> dict[str, str]:
    return {
        "verdict": NAMES[verdict.is_solved],
        "decided_by": verdict.decided_by,
        "reason": verdict.reason,
    }
