"""Evaluation measures that need no group: the paper's (Eq. 5-6) and the utility U.

Eq. 5 compares with the *starting* policy on the same example. Its floor of 1 makes it depend on
units, so they are fixed here: cents and minutes, as in the paper's tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from toolorchestra.reward.weights import check_preference
from toolorchestra.types import Measures, OfferedTool, Preference

CENTS_PER_USD = 100.0
SECONDS_PER_MINUTE = 60.0


def relative_reward(measures: Measures, start: Measures, preference: Preference) -> float:
    """R^e of one example (Eq. 5-6, appendix L): 0 if unsolved, else M_norm . P.

    Counts and outcome: M / max(1, M0). Cost in cents, latency in minutes: M0 / max(1, M), so that
    spending less than the starting policy scores higher.

    Args:
        measures: M of the policy under evaluation.
        start: M0 of the starting policy on the same example.
        preference: P.

    Raises:
        ValueError: P does not fit the offered tools.
    """
    check_preference(preference, measures.tool_counts)
    if not measures.outcome:
        return 0.0
    counts = sum(
        weight * measures.tool_counts[name] / max(1, start.tool_counts[name])
        for name, weight in preference.tools.items()
    )
    outcome = measures.outcome / max(1.0, start.outcome)
    cost = start.cost_usd * CENTS_PER_USD / max(1.0, measures.cost_usd * CENTS_PER_USD)
    latency = (start.latency_s / SECONDS_PER_MINUTE) / max(
        1.0, measures.latency_s / SECONDS_PER_MINUTE
    )
    return (
        counts
        + preference.outcome * outcome
        + preference.cost * cost
        + preference.latency * latency
    )


def relative_score(examples: Iterable[tuple[Measures, Measures, Preference]]) -> float:
    """A benchmark's score: the sum of R^e over its examples (Eq. 6).

    Args:
        examples: (M of the policy, M0 of the starting policy, P) of each example.
    """
    return math.fsum(relative_reward(*example) for example in examples)


def utility(measures: Measures, preference: Preference, offered: Sequence[OfferedTool]) -> float:
    """U of one rollout: 0 if unsolved, else what the user gains, against calling everything once.

    U = p_outcome + p_cost (1 - cost / cost_all) + p_latency (1 - latency / latency_all)
        + sum of p_tool over the tools that ran,
    where cost_all and latency_all add one typical call of every offered tool. Spending more than
    that makes a term negative. Where all tools are free (or take no time) the term counts fully:
    nothing can be saved.

    Args:
        measures: M of the rollout; its cost includes the policy's own tokens.
        preference: P of the episode.
        offered: The episode's tools, with typical price and latency.

    Raises:
        ValueError: P does not fit the offered tools.
    """
    check_preference(preference, [tool.name for tool in offered])
    if not measures.outcome:
        return 0.0
    cost_all = math.fsum(tool.call_cost_usd for tool in offered)
    latency_all = math.fsum(tool.latency_s for tool in offered)
    used = sum(w for name, w in preference.tools.items() if measures.tool_counts[name] > 0)
    return (
        preference.outcome
        + preference.cost * _saved_share(measures.cost_usd, cost_all)
        + preference.latency * _saved_share(measures.latency_s, latency_all)
        + used
    )


def _saved_share(amount: float, amount_all: float) -> float:
    return 1.0 - amount / amount_all if amount_all > 0 else 1.0
