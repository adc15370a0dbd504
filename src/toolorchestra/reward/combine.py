"""The paper's reward: R = M_normalized . P for a solved task, else 0 (Eq. 2).

Cost and latency enter as negated amounts *before* they are normalised, so that the cheapest rollout
of a group gets 1 and the dearest 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolorchestra.reward.normalize import min_max
from toolorchestra.reward.weights import check_preference
from toolorchestra.types import Measures, Preference

Terms = dict[str, float]
"""Weighted parts of a reward: "outcome", "cost", "latency" and "tools"."""

Normalize = Callable[[Sequence[float]], list[float]]


def paper_terms(measures: Sequence[Measures], preference: Preference) -> list[Terms]:
    """The terms of Eq. 2 for every rollout of a group; their sum is R, in [0, sum of P].

    Minimum and maximum are taken over all rollouts given, solved or not: every scored one.

    Args:
        measures: M of each scored rollout of one episode.
        preference: P.

    Returns:
        One record of terms a rollout, in the same order; all 0 for an unsolved one.

    Raises:
        ValueError: P has a weight outside [0, 1] or for a tool that is not offered.
    """
    return weighted_terms(measures, preference, list)


def weighted_terms(
    measures: Sequence[Measures], preference: Preference, rescale: Normalize
) -> list[Terms]:
    """Min-max, zero for unsolved rollouts, rescale, times P: what all rules share.

    Args:
        measures: M of each scored rollout of one episode.
        preference: P.
        rescale: Applied to each entry's column over the group, after the unsolved were set to 0.

    Raises:
        ValueError: See `paper_terms`.
    """
    if not measures:
        return []
    names = list(measures[0].tool_counts)
    assert all(list(m.tool_counts) == names for m in measures), "tools differ within a group"
    check_preference(preference, names)

    def column(values: list[float], weight: float) -> list[float]:
        gated = [
            value if m.outcome else 0.0 for value, m in zip(min_max(values), measures, strict=True)
        ]
        return [weight * value for value in rescale(gated)]

    outcome = column([m.outcome for m in measures], preference.outcome)
    cost = column([-m.cost_usd for m in measures], preference.cost)
    latency = column([-m.latency_s for m in measures], preference.latency)
    tools = [
        column([float(m.tool_counts[name]) for m in measures], preference.tools.get(name, 0.0))
        for name in names
    ]
    return [
        {"outcome": o, "cost": c, "latency": s, "tools": sum(counts[i] for counts in tools)}
        for i, (o, c, s) in enumerate(zip(outcome, cost, latency, strict=True))
    ]
