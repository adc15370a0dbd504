"""Draws the prices of one episode (paper, section 3.3: pricing varies across training instances).

A schedule is drawn for the whole episode, and a factor for each model, so that tools backed by the
same model keep the same price.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from toolorchestra.pricing.combine import combined_price
from toolorchestra.pricing.schedule import PriceBook
from toolorchestra.types import Price


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnPrices:
    """The prices of one episode."""

    schedule: str
    tools: Mapping[str, Price]
    """By tool; a masked tool is absent."""
    policy: Price
    """Never varied: the policy is not told its own price."""


def scale_price(price: Price, factor: float) -> Price:
    """`price` with every rate multiplied by `factor`."""
    cached = price.usd_per_cached_input_mtok
    return replace(
        price,
        usd_per_input_mtok=price.usd_per_input_mtok * factor,
        usd_per_output_mtok=price.usd_per_output_mtok * factor,
        usd_per_cached_input_mtok=None if cached is None else cached * factor,
        usd_per_call=price.usd_per_call * factor,
        usd_per_second=price.usd_per_second * factor,
    )


def draw_prices(
    book: PriceBook,
    *,
    schedules: Sequence[str],
    jitter: float,
    models: Mapping[str, tuple[str, ...]],
    policy: str,
    rng: Random,
) -> DrawnPrices:
    """Draws a schedule and a log-uniform factor in [1/jitter, jitter] for each model.

    Args:
        book: Where prices are looked up.
        schedules: The schedules to draw from.
        jitter: At least 1; 1 leaves prices as listed.
        models: The models and services that each tool is charged as, by tool.
        policy: The model that the policy is priced as.
        rng: The episode's generator.

    Raises:
        ValueError: A model is unknown, or the policy has no price.
    """
    schedule = rng.choice(list(schedules))
    spread = math.log(jitter)
    names = dict.fromkeys(model for rows in models.values() for model in rows)
    factors = {model: math.exp(rng.uniform(-spread, spread)) for model in names}
    tools = {}
    for tool, rows in models.items():
        found = [book.find(model, schedule=schedule) for model in rows]
        prices = [price for price in found if price is not None]
        if len(prices) == len(rows):  # else it is masked: part of a price would be too little
            scaled = [scale_price(p, factors[m]) for p, m in zip(prices, rows, strict=True)]
            tools[tool] = combined_price(scaled)
    return DrawnPrices(
        schedule=schedule, tools=tools, policy=find_policy_price(book, policy, schedule=schedule)
    )


def find_policy_price(book: PriceBook, policy: str, *, schedule: str) -> Price:
    """The price of the policy's own tokens, which cannot be masked.

    Raises:
        ValueError: No schedule that may be used has one.
    """
    price = book.find(policy, schedule=schedule)
    if price is None:
        raise ValueError(
            f"model.priced_as: {policy!r} has no price under the schedule {schedule}; use a model "
            "that it prices, or pricing.missing=borrow with a lender that prices it"
        )
    return price
