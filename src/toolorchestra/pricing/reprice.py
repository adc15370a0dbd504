"""What a billed call would cost under another schedule, or that nobody can say.

A row without a price makes the whole entry unknown: a part of a price would be too little, and zero
would make the dearest model look free.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.pricing.combine import combined_price
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.pricing.schedule import PriceBook
from toolorchestra.types import LedgerEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class Repriced:
    """The cost of one ledger entry under one schedule."""

    cost_usd: float | None
    """None: unknown."""
    lenders: tuple[str, ...] = ()
    """Where prices were borrowed that the schedule lacks."""
    unpriced: tuple[str, ...] = ()
    """Rows that have no price."""


def reprice(entry: LedgerEntry, book: PriceBook, *, schedule: str) -> Repriced:
    """Recomputes what an entry costs from its usage.

    Args:
        entry: As logged.
        book: Where prices are looked up, as listed: without an episode's jitter.
        schedule: The schedule to pay by.

    Raises:
        ValueError: The entry's usage cannot be: a count is negative, or larger than its whole.
    """
    found = {row: book.look_up(row, schedule=schedule) for row in entry.priced_as}
    unpriced = tuple(row for row, price in found.items() if price is None)
    if unpriced or not found:
        return Repriced(cost_usd=None, unpriced=unpriced)
    prices = [price for price in found.values() if price is not None]
    lenders = dict.fromkeys(p.borrowed_from for p in prices if p.borrowed_from is not None)
    return Repriced(cost_usd=cost_usd(entry.usage, combined_price(prices)), lenders=tuple(lenders))
