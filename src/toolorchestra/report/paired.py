"""Two policies on the same episodes: paired differences, their intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from toolorchestra.report.measures.attempt import Attempt, scored
from toolorchestra.report.pairing import Pair, Side
from toolorchestra.report.significance import holm, mcnemar_exact, sign_flip_test
from toolorchestra.report.stats import (
    CONFIDENCE,
    Estimate,
    accuracy,
    bootstrap_difference,
    bootstrap_mean,
)
from toolorchestra.report.table import Cell, Table
from toolorchestra.reward.evaluate import CENTS_PER_USD
from toolorchestra.types import Measures

ACCURACY = "accuracy"
MEASURES: dict[str, Callable[[Attempt, Measures], float]] = {
    ACCURACY: lambda item, found: found.outcome,
    "cents": lambda item, found: CENTS_PER_USD * found.cost_usd,
    "seconds": lambda item, found: found.latency_s,
    "utility": lambda item, found: item.utility or 0.0,
}
"""Of a scored attempt; the family that Holm's correction is over."""
MCNEMAR, PERMUTATION = "McNemar, exact", "sign flips"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One measure of both, over the episodes that both have a score for."""

    measure: str
    ours: Estimate
    theirs: Estimate
    difference: Estimate
    p: float
    p_holm: float
    test: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """Two policies in one world."""

    world: str
    num_shared: int
    num_scored: int
    num_ours_alone: int
    """Episodes that only the first solves, in every trial; see McNemar's test."""
    num_theirs_alone: int
    rows: tuple[Row, ...]


def compare_pairs(world: str, pairs: Sequence[Pair], *, seed: int = 0) -> Compared:
    """Compares two policies; of several trials at an episode the mean counts.

    Intervals are of bootstraps over tasks. Accuracy is tested by McNemar's exact test where every
    task was tried once by each, and like the other measures, by flipping signs, elsewhere.

    Args:
        world: Where they played.
        pairs: Episodes of both.
        seed: Of bootstraps and flips.

    Raises:
        ValueError: No episode has a score of both.
    """
    known = [pair for pair in pairs if scored(pair.ours) and scored(pair.theirs)]
    if not known:
        raise ValueError(f"{world} world: none of {len(pairs)} episodes has a score of both")
    solved = [
        (_mean(pair.ours, ACCURACY) == 1, _mean(pair.theirs, ACCURACY) == 1) for pair in known
    ]
    alone = (sum(a and not b for a, b in solved), sum(b and not a for a, b in solved))
    rows = [_row(name, known, alone=alone, seed=seed) for name in MEASURES]
    adjusted = holm({row.measure: row.p for row in rows})
    return Compared(
        world=world,
        num_shared=len(pairs),
        num_scored=len(known),
        num_ours_alone=alone[0],
        num_theirs_alone=alone[1],
        rows=tuple(replace(row, p_holm=adjusted[row.measure]) for row in rows),
    )


def _row(measure: str, pairs: Sequence[Pair], *, alone: tuple[int, int], seed: int) -> Row:
    """One measure, tested but not yet corrected."""
    ours = [_mean(pair.ours, measure) for pair in pairs]
    theirs = [_mean(pair.theirs, measure) for pair in pairs]
    tasks = [pair.task for pair in pairs]
    if measure == ACCURACY and _is_once(pairs):
        estimates = [accuracy(values, clusters=tasks) for values in (ours, theirs)]
        p, test = mcnemar_exact(*alone), MCNEMAR
    else:
        differences = [a - b for a, b in zip(ours, theirs, strict=True)]
        estimates = [bootstrap_mean(v, clusters=tasks, seed=seed) for v in (ours, theirs)]
        p, test = sign_flip_test(differences, clusters=tasks, seed=seed), PERMUTATION
    return Row(
        measure=measure,
        ours=estimates[0],
        theirs=estimates[1],
        difference=bootstrap_difference(ours, theirs, clusters=tasks, seed=seed),
        p=p,
        p_holm=p,
        test=test,
    )


def _is_once(pairs: Sequence[Pair]) -> bool:
    """Whether each task was tried once by each: the discordant ones are then independent."""
    is_single = all(len(side) == 1 for pair in pairs for side in (pair.ours, pair.theirs))
    return is_single and len({pair.task for pair in pairs}) == len(pairs)


def paired_table(ours: Side, theirs: Side, compared: Sequence[Compared], *, note: str) -> Table:
    """All measures in all worlds."""
    rows: list[tuple[Cell, ...]] = [
        (
            found.world,
            row.measure,
            row.ours,
            row.theirs,
            row.difference,
            row.p,
            row.p_holm,
            row.test,
        )
        for found in compared
        for row in found.rows
    ]
    columns = ("A", "B", "A - B", "p")
    return Table(
        title=f"A = {ours.name} against B = {theirs.name}, paired by episode",
        columns=("world", "measure", *columns, "p, Holm", "test"),
        rows=tuple(rows),
        digits={**dict.fromkeys(columns, 3), "p": 4, "p, Holm": 4},
        note=" ".join([*map(_told, compared), _method(), note]).strip(),
    )


def _told(found: Compared) -> str:
    return (
        f"{found.world} world: {found.num_shared} shared episodes, {found.num_scored} with a score "
        f"of both; solved by A alone {found.num_ours_alone}, by B alone {found.num_theirs_alone}."
    )


def _method() -> str:
    return (
        f"Intervals of differences: paired bootstrap over tasks, {CONFIDENCE:.0%}. Holm's "
        f"correction is over the {len(MEASURES)} measures of a world. An accuracy that is not "
        "tested by McNemar is of several trials at a task, whose signs are flipped together."
    )


def _mean(attempts: Sequence[Attempt], measure: str) -> float:
    values = [MEASURES[measure](item, found) for item, found in scored(attempts)]
    return math.fsum(values) / len(values)
