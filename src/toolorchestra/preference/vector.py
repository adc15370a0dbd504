"""The preference vector P over [tool counts, outcome, cost, latency] (paper, section 3.2).

Rewards are comparable only while every entry is in [0, 1], and a weight on a tool that is not there
would silently shrink every reward.
"""

from __future__ import annotations

from collections.abc import Collection

from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.types import Preference


def check_vector(preference: Preference, tools: Collection[str]) -> None:
    """Checks a preference against the names of the tools on offer.

    Raises:
        ValueError: An entry is outside [0, 1], or a weighted tool is absent.
    """
    entries = {
        "outcome": preference.outcome,
        "cost": preference.cost,
        "latency": preference.latency,
        **{f"tools.{name}": weight for name, weight in preference.tools.items()},
    }
    for key, value in entries.items():
        if not 0 <= value <= 1:
            raise ValueError(f"preference.{key}: {value} is not allowed; use a number from 0 to 1")
    _check_present(preference.kind, preference.tools, tools)


def check_preference(config: PreferenceConfig, tools: Collection[str]) -> None:
    """Checks the user's own pairs against the names of the toolset's tools.

    Raises:
        ValueError: A pair weights a tool that the toolset does not have, or nothing but a wish for
            one of its tools is to be drawn, and it has none.
    """
    drawn = [kind for kind, weight in config.kinds.items() if weight]
    if not tools and drawn == ["tool"]:
        raise ValueError(
            "preference.kinds: 'tool' alone is not allowed with a toolset without tools; use "
            "preference=mixed, or another toolset"
        )
    for kind, pair in config.pairs.items():
        _check_present(kind, pair.tools, tools)


def _check_present(kind: str, wanted: Collection[str], tools: Collection[str]) -> None:
    for name in wanted:
        if name not in tools:
            raise ValueError(
                f"preference.pairs.{kind}.tools: {name!r} is not allowed, as it is not offered; "
                f"use {', '.join(tools) or 'no weights on tools, as there are none'}"
            )
