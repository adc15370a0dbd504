"""Figures of a policy, formed from what is kept of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from toolorchestra.experiment.declared import Column
from toolorchestra.experiment.extract import Extract, Numbers, WorldNumbers
from toolorchestra.report.stats import (
    Estimate,
    bootstrap_difference,
    bootstrap_mean,
    wilson,
)
from toolorchestra.report.table import Cell

SCALES = {
    "accuracy": ("is_solved", 100.0),
    "utility": ("utility", 1.0),
    "cents": ("cents", 1.0),
    "seconds": ("seconds", 1.0),
    "minutes": ("seconds", 1 / 60),
    "relative": ("relative", 100.0),
}
"""By measure: the numbers that it is the mean of, and what they are multiplied by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """One policy in one run."""

    kept: Extract
    policy: str

    def world(self, name: str = "") -> WorldNumbers | None:
        """A world of the run; without a name its only one."""
        if name:
            return self.kept.worlds.get(name)
        return next(iter(self.kept.worlds.values())) if len(self.kept.worlds) == 1 else None


def figure(column: Column, runs: Sequence[Played], reference: Played | None = None) -> Cell:
    """The figure of a column for one policy; None where it is missing.

    Args:
        column: What to measure, and where.
        runs: The policy's runs; those that played the same world, e.g. several seeds, are pooled.
        reference: What `gain` compares with.
    """
    found = [_in_world(column, name, runs, reference) for name in column.worlds or [""]]
    cells = [cell for cell in found if cell is not None]
    if len(cells) < len(found):
        return None
    return cells[0] if len(cells) == 1 else _mean_of(cells)


def _in_world(
    column: Column, name: str, runs: Sequence[Played], reference: Played | None
) -> Estimate | float | None:
    pairs = [(run, world) for run in runs if (world := run.world(name)) is not None]
    parts = [(w, w.policies[run.policy]) for run, w in pairs if run.policy in w.policies]
    if not parts:
        return None
    if column.measure in SCALES:
        return _mean(column, parts)
    if column.measure == "gain":
        return _gain(parts[0], name, reference)
    return _count(column, [numbers for _, numbers in parts])


def _mean(column: Column, parts: Sequence[tuple[WorldNumbers, Numbers]]) -> Estimate | None:
    field, scale = SCALES[column.measure]
    values: list[float] = []
    clusters: list[str] = []
    for world, numbers in parts:
        for i, value in zip(numbers.episode, getattr(numbers, field), strict=False):
            if value is not None and (not column.skills or world.skills[i] in column.skills):
                values.append(value)
                clusters.append(world.episodes[i])
    if not values:
        return None
    is_count = field == "is_solved" and len(set(clusters)) == len(values) and {*values} <= {0, 1}
    if is_count:
        found = wilson(int(sum(values)), len(values))
    else:
        found = bootstrap_mean(values, clusters=clusters)
    return Estimate(value=scale * found.value, low=scale * found.low, high=scale * found.high)


def _gain(
    part: tuple[WorldNumbers, Numbers], name: str, reference: Played | None
) -> Estimate | None:
    """Utility minus the reference's, paired by episode."""
    other = None if reference is None else reference.world(name)
    if reference is None or other is None or reference.policy not in other.policies:
        return None
    ours, theirs = _utilities(*part), _utilities(other, other.policies[reference.policy])
    both = [episode for episode in ours if episode in theirs]
    if not both:
        return None
    return bootstrap_difference([ours[e] for e in both], [theirs[e] for e in both], clusters=both)


def _utilities(world: WorldNumbers, numbers: Numbers) -> dict[str, float]:
    pairs = zip(numbers.episode, numbers.utility, strict=True)
    return {world.episodes[i]: value for i, value in pairs if value is not None}


def _count(column: Column, parts: Sequence[Numbers]) -> float | None:
    if column.measure == "malformed":
        calls = sum(numbers.num_calls for numbers in parts)
        return 100 * sum(n.num_malformed for n in parts) / calls if calls else 0.0
    own = [numbers.calls[column.tool] for numbers in parts if column.tool in numbers.calls]
    if not own:
        return None
    if column.measure == "calls":
        return sum(calls for calls, _ in own) / sum(offered for _, offered in own)
    total = sum(calls for numbers in parts for calls, _ in numbers.calls.values())
    return 100 * sum(calls for calls, _ in own) / total if total else None


def _mean_of(cells: Sequence[Estimate | float]) -> Estimate | float:
    """Of figures that were measured apart: their intervals' arms add up in squares."""
    estimates = [c if isinstance(c, Estimate) else Estimate(value=c, low=c, high=c) for c in cells]
    num = len(estimates)
    value = sum(e.value for e in estimates) / num
    below = math.sqrt(sum((e.value - e.low) ** 2 for e in estimates)) / num
    above = math.sqrt(sum((e.high - e.value) ** 2 for e in estimates)) / num
    return Estimate(value=value, low=value - below, high=value + above)
