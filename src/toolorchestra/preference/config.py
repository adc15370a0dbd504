"""Which preferences are drawn, and how often, as the user writes them in `conf/preference/`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

KINDS = ("none", "balanced", "frugal", "hurried", "thorough", "tool")
"""The kinds that `toolorchestra.preference.pairs` can word."""

TABLE_KINDS = ("cost", "latency", "privacy", "vendor", "like", "dislike", "combination")
"""The kinds of a table of pairs, which is made for the tools of a toolset."""


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
class TableConfig:
    """The table that the kinds of `TABLE_KINDS` are drawn from."""

    file: str = ""
    """Pairs of `synthesize.py preferences`; none: written from templates for the toolset."""
    num_pairs: int = 320
    """How many the templates give, as far as they go: few tools give fewer wishes."""
    eval_share: float = 0.25
    """Share of them that training never sees."""
    seed: int = 1
    """Of the templates; not the run's, so that runs of other seeds have the same wishes."""

    def __post_init__(self) -> None:
        if self.num_pairs < 2:
            _refuse("table.num_pairs", self.num_pairs, "a whole number from 2")
        if not 0 < self.eval_share < 1:
            _refuse("table.eval_share", self.eval_share, "a number between 0 and 1")


@dataclass(kw_only=True)
class PreferenceConfig:
    """Sampling weights over kinds of preference; each episode draws one pair."""

    name: str
    kinds: dict[str, float]
    """Weight of each kind: a built-in one, one of the table, or a key of `pairs`."""
    pairs: dict[str, PairConfig] = field(default_factory=dict)
    """Pairs of one's own, by kind."""
    table: TableConfig = field(default_factory=TableConfig)

    def __post_init__(self) -> None:
        for kind, pair in self.pairs.items():
            if kind in KINDS or kind in TABLE_KINDS:
                _refuse("pairs", repr(kind), "a name that no built-in kind has")
            _check_pair(pair, key=f"pairs.{kind}")
        known = (*KINDS, *TABLE_KINDS, *self.pairs)
        for kind, weight in self.kinds.items():
            if kind not in known:
                _refuse("kinds", repr(kind), ", ".join(known))
            if not (math.isfinite(weight) and weight >= 0):
                _refuse(f"kinds.{kind}", weight, "a finite number from 0 up")
        if not any(self.kinds.values()):
            _refuse("kinds", self.kinds, "at least one weight above 0")

    @property
    def uses_table(self) -> bool:
        """Whether some kind of the table may be drawn."""
        return any(self.kinds.get(kind) for kind in TABLE_KINDS)


def _check_pair(pair: PairConfig, *, key: str) -> None:
    entries = {"outcome": pair.outcome, "cost": pair.cost, "latency": pair.latency}
    entries |= {f"tools.{name}": weight for name, weight in pair.tools.items()}
    for name, value in entries.items():
        if not 0 <= value <= 1:
            _refuse(f"{key}.{name}", value, "a number from 0 to 1")


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"preference.{key}: {value} is not allowed; use {allowed}")
