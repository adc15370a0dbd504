"""Which preferences are drawn, and how often, as the user writes them in `conf/preference/`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

KINDS = ("none", "balanced", "frugal", "hurried", "thorough", "tool")
"""The kinds that `toolorchestra.preference.pairs` can word."""


@dataclass(kw_only=True)
class PairConfig:
    """A pair of one's own: an instruction and the vector P that it means (paper, section 3.2)."""

    instruction: str
    outcome: float = 1.0
    cost: float = 0.0
    latency: float = 0.0
    tools: dict[str, float] = field(default_factory=dict)
    """Weight of each tool's call count; in an episode without the tool, its weight is left out."""


@dataclass(kw_only=True)
class PreferenceConfig:
    """Sampling weights over kinds of preference; each episode draws one pair."""

    name: str
    kinds: dict[str, float]
    """Weight of each kind: a built-in one or a key of `pairs`."""
    pairs: dict[str, PairConfig] = field(default_factory=dict)
    """Pairs of one's own, by kind."""

    def __post_init__(self) -> None:
        for kind, pair in self.pairs.items():
            if kind in KINDS:
                _refuse("pairs", repr(kind), "a name that no built-in kind has")
            _check_pair(pair, key=f"pairs.{kind}")
        known = (*KINDS, *self.pairs)
        for kind, weight in self.kinds.items():
            if kind not in known:
                _refuse("kinds", repr(kind), ", ".join(known))
            if not (math.isfinite(weight) and weight >= 0):
                _refuse(f"kinds.{kind}", weight, "a finite number from 0 up")
        if not any(self.kinds.values()):
            _refuse("kinds", self.kinds, "at least one weight above 0")


def _check_pair(pair: PairConfig, *, key: str) -> None:
    entries = {"outcome": pair.outcome, "cost": pair.cost, "latency": pair.latency}
    entries |= {f"tools.{name}": weight for name, weight in pair.tools.items()}
    for name, value in entries.items():
        if not 0 <= value <= 1:
            _refuse(f"{key}.{name}", value, "a number from 0 to 1")


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"preference.{key}: {value} is not allowed; use {allowed}")
