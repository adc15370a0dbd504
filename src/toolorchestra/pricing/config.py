"""Pricing schedules as the user writes them in `conf/pricing/`, checked before anything starts.

Every figure carries a unit, a source and a date, because price tables that mix units are wrong by a
factor of a thousand or a million, and an invented figure cannot be told from a read one.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

TOKENS_PER_UNIT = {"mtok": 1_000_000, "ktok": 1_000, "token": 1}

CHARACTERS_PER_TOKEN = 4
"""What a token is taken to be where nobody has counted."""

MISSING_RULES = ("borrow", "mask", "refuse")

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

MAX_USD_PER_TOKEN = 0.001
"""A rate from here up is a unit error: the dearest models cost a tenth of it."""


@dataclass(kw_only=True)
class PriceConfig:
    """What one model or service costs; the pricing checks it, as it can name the whole key."""

    unit: str = ""
    """What `input`, `output` and `cached_input` are per: mtok, ktok or token. Needed with them."""
    input: float | None = None
    """USD per `unit` of input tokens."""
    output: float | None = None
    """USD per `unit` of output tokens, reasoning included."""
    cached_input: float | None = None
    """USD per `unit` of input read from the provider's cache; none: as `input`."""
    usd_per_call: float = 0.0
    usd_per_second: float = 0.0
    """USD per second of billed run time."""
    is_free: bool = False
    """Says that a price of zero is meant, not forgotten."""
    source: str = ""
    """Where the figure was read."""
    date: str = ""
    """When the source was published."""
    note: str = ""
    """How the figure differs from the model named, for readers."""
    borrowed_from: str | None = None
    """Where the figure comes from if it belongs to another model."""


@dataclass(kw_only=True)
class ScheduleConfig:
    """The price list of one provider: `conf/pricing/schedule/<provider>.yaml`."""

    prices: dict[str, PriceConfig] = field(default_factory=dict)
    """By name of model or service, as in `tool.priced_as` and `model.priced_as`."""
    unpriced: list[str] = field(default_factory=list)
    """Models known to have no price anywhere; any other unknown name is taken for a mistake."""
    is_shared: bool = False
    """Its prices hold whichever schedule an episode draws."""
    version: str = ""
    """The day on which the list was last changed, e.g. "2026-11-29"; empty: none is kept."""


@dataclass(kw_only=True)
class PricingConfig:
    """What everything costs (paper, sections 3.3 and 4.1, Appendices E and H)."""

    name: str
    schedules: dict[str, ScheduleConfig]
    """All price lists in use, by provider."""
    draw: list[str]
    """Each episode draws one of these schedules."""
    borrow: list[str] = field(default_factory=list)
    """Schedules that lend a price that the drawn one lacks, first come first served."""
    missing: str = "borrow"
    """What happens to a tool that the drawn schedule does not price: borrow (from `borrow`, else
    mask), mask (do not offer it) or refuse (stop with an error)."""
    jitter: float = 1.0
    """Each episode multiplies each model's prices by a factor between 1/jitter and jitter."""

    def __post_init__(self) -> None:
        if self.missing not in MISSING_RULES:
            _refuse("missing", repr(self.missing), ", ".join(MISSING_RULES))
        if not (math.isfinite(self.jitter) and self.jitter >= 1):
            _refuse("jitter", self.jitter, "a finite number from 1 up")
        if not self.draw:
            _refuse("draw", self.draw, f"one or more of {', '.join(self.schedules)}")
        for key, names in (("draw", self.draw), ("borrow", self.borrow)):
            for name in names:
                if name not in self.schedules:
                    _refuse(key, repr(name), ", ".join(self.schedules))
        for provider, schedule in self.schedules.items():
            if schedule.version and not _DAY.fullmatch(schedule.version):
                _refuse(
                    f"schedules.{provider}.version", repr(schedule.version), 'a day, "YYYY-MM-DD"'
                )
            for model, price in schedule.prices.items():
                check_price(price, key=f"schedules.{provider}.prices.{model}")


def check_price(price: PriceConfig, *, key: str) -> None:
    """Raises ValueError, naming `key`, for a price that cannot be meant."""
    for text in ("source", "date"):
        if not getattr(price, text).strip():
            _refuse(f"{key}.{text}", "nothing", "where and when the figure was read")
    for figure in ("input", "output", "cached_input", "usd_per_call", "usd_per_second"):
        value = getattr(price, figure)
        if value is not None and not (math.isfinite(value) and value >= 0):
            _refuse(f"{key}.{figure}", value, "a finite number from 0 up")
    _check_rates(price, key=key)
    has_figure = any((price.input, price.output, price.usd_per_call, price.usd_per_second))
    if has_figure == price.is_free:
        _refuse(
            f"{key}.is_free",
            str(price.is_free).lower(),
            "true where all figures are zero, and only there",
        )


def _check_rates(price: PriceConfig, *, key: str) -> None:
    rates = {k: getattr(price, k) for k in ("input", "output", "cached_input")}
    given = {k: rate for k, rate in rates.items() if rate is not None}
    if not given and not price.unit:
        return
    if price.unit not in TOKENS_PER_UNIT:
        _refuse(f"{key}.unit", repr(price.unit), ", ".join(TOKENS_PER_UNIT))
    for figure in ("input", "output"):
        if figure not in given:
            _refuse(f"{key}.{figure}", "nothing", f"a number of USD per {price.unit}")
    for figure, rate in given.items():
        if rate / TOKENS_PER_UNIT[price.unit] >= MAX_USD_PER_TOKEN:
            _refuse(
                f"{key}.{figure}",
                f"{rate} USD per {price.unit}",
                f"less than {MAX_USD_PER_TOKEN} USD per token; is the unit right?",
            )


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"pricing.{key}: {value} is not allowed; use {allowed}")
