"""Accuracy over cost as more turns are allowed (paper, section 6.2, Figure 6).

Where a limit is hidden from the policy and nothing forces a last answer, its first N turns are the
same under any limit from N up. So one greedy run gives the figures at every limit up to its own:
what was answered within N turns counts, all else is unsolved, and costs what N turns cost. Such
figures are named "derived"; those of runs that were played with each limit, "separate runs".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolorchestra.report.measures.attempt import Attempt, scored
from toolorchestra.report.stats import Estimate, accuracy, bootstrap_mean
from toolorchestra.report.table import Table
from toolorchestra.reward.evaluate import CENTS_PER_USD

LIMITS = (10, 20, 50, 100)
"""Turns in the paper's figure."""
DERIVED, SEPARATE = "derived", "separate runs"
NOTES = {
    DERIVED: (
        "Derived from one greedy run: what was answered within so many turns counts, all else is "
        "unsolved; cents up to that turn. Absent beyond the run's own rollout.max_turns where that "
        "ended a trial."
    ),
    SEPARATE: "Separate runs, each played with its own rollout.max_turns.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnPoint:
    """A policy under one limit of turns."""

    policy: str
    max_turns: int
    num_scored: int
    accuracy: Estimate | None
    """None, like the cents, where the run cannot tell."""
    cost_cents: Estimate | None


def derived_points(
    attempts: Sequence[Attempt], *, max_turns: int, limits: Iterable[int] = LIMITS
) -> list[TurnPoint]:
    """Each policy of one greedy run under each limit.

    Args:
        attempts: In one world.
        max_turns: The limit that they were played with.
        limits: In rising order.
    """
    points = []
    for policy in dict.fromkeys(item.policy for item in attempts):
        known = scored([item for item in attempts if item.policy == policy])
        was_cut = any(item.status == "max_turns" for item, _ in known)
        for limit in limits:
            is_told = bool(known) and (limit <= max_turns or not was_cut)
            outcomes = [m.outcome if item.num_turns <= limit else 0.0 for item, m in known]
            usd = [sum(item.turn_usd[:limit]) for item, _ in known]
            episodes = [item.episode for item, _ in known]
            points.append(_point(policy, limit, outcomes, usd, episodes, is_told=is_told))
    return points


def separate_points(runs: Mapping[int, Sequence[Attempt]]) -> list[TurnPoint]:
    """Each policy of several runs, under the limit that each was played with.

    Args:
        runs: Attempts in one world, by rollout.max_turns.
    """
    names = dict.fromkeys(item.policy for attempts in runs.values() for item in attempts)
    points = []
    for policy in names:
        for limit in sorted(runs):
            known = scored([item for item in runs[limit] if item.policy == policy])
            outcomes, usd = [m.outcome for _, m in known], [m.cost_usd for _, m in known]
            episodes = [item.episode for item, _ in known]
            points.append(_point(policy, limit, outcomes, usd, episodes, is_told=bool(known)))
    return points


def _point(
    policy: str,
    limit: int,
    outcomes: Sequence[float],
    usd: Sequence[float],
    episodes: Sequence[str],
    *,
    is_told: bool,
) -> TurnPoint:
    cents = [CENTS_PER_USD * amount for amount in usd]
    return TurnPoint(
        policy=policy,
        max_turns=limit,
        num_scored=len(outcomes),
        accuracy=accuracy(outcomes, clusters=episodes) if is_told else None,
        cost_cents=bootstrap_mean(cents, clusters=episodes) if is_told else None,
    )


def turns_table(points: Sequence[TurnPoint], *, source: str, world: str, note: str = "") -> Table:
    """One row a policy and limit; `source` is DERIVED or SEPARATE, `note` is added to the table's.

    Both title and note name the source.
    """
    return Table(
        title=f"{world} world: accuracy over cost by turns allowed ({source})",
        columns=("policy", "turns allowed", "scored", "accuracy", "cents"),
        rows=tuple(
            (point.policy, point.max_turns, point.num_scored, point.accuracy, point.cost_cents)
            for point in points
        ),
        digits={"accuracy": 3, "cents": 3},
        note=f"{NOTES[source]} {note}".strip(),
    )
