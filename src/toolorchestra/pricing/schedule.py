"""Finds the price of a model in a schedule, or says that there is none.

A missing price is never zero: a free model would win every comparison of cost. It is borrowed in
plain sight, or the tool is masked, or the run is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolorchestra.pricing.config import TOKENS_PER_UNIT, PriceConfig, PricingConfig
from toolorchestra.types import Price

TOKENS_PER_MTOK = 1_000_000


def price_from_config(config: PriceConfig) -> Price:
    """The record of a checked price, its rates brought to USD per million tokens."""
    scale = TOKENS_PER_MTOK / TOKENS_PER_UNIT[config.unit] if config.unit else 1.0
    return Price(
        usd_per_input_mtok=(config.input or 0.0) * scale,
        usd_per_output_mtok=(config.output or 0.0) * scale,
        usd_per_cached_input_mtok=(
            None if config.cached_input is None else config.cached_input * scale
        ),
        usd_per_call=config.usd_per_call,
        usd_per_second=config.usd_per_second,
        source=config.source,
        date=config.date,
        borrowed_from=config.borrowed_from,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PriceBook:
    """All schedules of a pricing, and the rule for what one of them lacks."""

    prices: Mapping[str, Mapping[str, Price]]
    """By schedule, then by model."""
    shared: tuple[str, ...]
    """Schedules that hold under every other one."""
    lenders: tuple[str, ...]
    unpriced: frozenset[str]
    missing: str
    """borrow, mask or refuse."""

    def find(self, model: str, *, schedule: str) -> Price | None:
        """The price of `model` under `schedule`; None where the tool is to be masked.

        Raises:
            ValueError: No schedule knows the model, or `missing` is refuse and this one lacks it.
        """
        price = self.look_up(model, schedule=schedule)
        if price is not None:
            return price
        self._refuse_unknown(model)
        if self.missing == "refuse":
            raise ValueError(
                f"pricing.missing: {model!r} has no price in the schedule {schedule}; "
                "use borrow or mask, or add its price"
            )
        return None

    def look_up(self, model: str, *, schedule: str) -> Price | None:
        """The price of `model` under `schedule`, borrowed if need be; None where there is none.

        Unlike `find` it takes any name, as a log may hold models that these schedules never knew.
        """
        for name in (schedule, *self.shared):
            if model in self.prices[name]:
                return self.prices[name][model]
        return self._borrow(model) if self.missing == "borrow" else None

    def _borrow(self, model: str) -> Price | None:
        for lender in self.lenders:
            price = self.prices[lender].get(model)
            if price is not None:
                return replace(price, borrowed_from=price.borrowed_from or lender)
        return None

    def _refuse_unknown(self, model: str) -> None:
        known = {name for prices in self.prices.values() for name in prices} | self.unpriced
        if model in known:
            return
        near = difflib.get_close_matches(model, sorted(known), n=3)
        hint = f" (near it: {', '.join(map(repr, near))})" if near else ""
        raise ValueError(
            f"pricing.schedules: {model!r} is in none of {', '.join(self.prices)}{hint}; use a "
            "name that they price, add its price with source and date, or list it as unpriced"
        )


def build_price_book(config: PricingConfig) -> PriceBook:
    """The prices of a checked config as records, ready to be looked up."""
    return PriceBook(
        prices={
            name: {model: price_from_config(price) for model, price in schedule.prices.items()}
            for name, schedule in config.schedules.items()
        },
        shared=tuple(name for name, s in config.schedules.items() if s.is_shared),
        lenders=tuple(config.borrow),
        unpriced=frozenset(m for s in config.schedules.values() for m in s.unpriced),
        missing=config.missing,
    )
