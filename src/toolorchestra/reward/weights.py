"""The vector P that a reward is weighted with, and what makes a P valid."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from toolorchestra.types import Preference


def weigh(
    preference: Preference,
    *,
    outcome: float,
    cost: float,
    latency: float,
    tools: float,
    is_fixed: bool,
) -> Preference:
    """P as the reward uses it: the episode's times four multipliers, or the four alone.

    Args:
        preference: The episode's.
        outcome: Multiplier of P's entry in [0, 1], or the entry itself if fixed.
        cost: Likewise.
        latency: Likewise.
        tools: Multiplier of every tool's weight.
        is_fixed: Whether to ignore the episode's P; single tools then weigh nothing.
    """
    if is_fixed:
        return replace(preference, outcome=outcome, cost=cost, latency=latency, tools={})
    return replace(
        preference,
        outcome=preference.outcome * outcome,
        cost=preference.cost * cost,
        latency=preference.latency * latency,
        tools={name: weight * tools for name, weight in preference.tools.items()},
    )


def check_preference(preference: Preference, offered: Collection[str]) -> None:
    """Refuses a P that does not fit the offered tools.

    Raises:
        ValueError: A weight outside [0, 1], or one for a tool that is not offered.
    """
    absent = sorted(set(preference.tools) - set(offered))
    if absent:
        raise ValueError(
            f"the preference weighs {', '.join(absent)}, which this episode does not offer; "
            f"use only {', '.join(sorted(offered))}"
        )
    entries = {
        "outcome": preference.outcome,
        "cost": preference.cost,
        "latency": preference.latency,
        **preference.tools,
    }
    for name, weight in entries.items():
        if not 0 <= weight <= 1:
            raise ValueError(
                f"the preference's weight of {name} is {weight}; use a number from 0 to 1"
            )
