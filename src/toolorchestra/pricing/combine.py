"""One price for a call that several rows of a schedule are charged for.

An expert that words a search is paid by the token, and the search that it starts by the call.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.types import Price


def combined_price(prices: Sequence[Price]) -> Price:
    """The sum of all rates, rate by rate; a single price is returned as it is.

    Args:
        prices: At least one.

    Returns:
        A price under which one usage costs what it would under all of them together. It names all
        sources, dates and lenders.
    """
    assert prices, "no price to combine"
    if len(prices) == 1:
        return prices[0]
    lenders = dict.fromkeys(p.borrowed_from for p in prices if p.borrowed_from is not None)
    return Price(
        usd_per_input_mtok=sum(price.usd_per_input_mtok for price in prices),
        usd_per_output_mtok=sum(price.usd_per_output_mtok for price in prices),
        usd_per_cached_input_mtok=_cached(prices),
        usd_per_call=sum(price.usd_per_call for price in prices),
        usd_per_second=sum(price.usd_per_second for price in prices),
        source="; ".join(price.source for price in prices),
        date="; ".join(price.date for price in prices),
        borrowed_from=", ".join(lenders) or None,
    )


def _cached(prices: Sequence[Price]) -> float | None:
    """The rate of cached input; a price without one asks what it asks of any input."""
    if all(price.usd_per_cached_input_mtok is None for price in prices):
        return None
    return sum(
        price.usd_per_input_mtok
        if price.usd_per_cached_input_mtok is None
        else price.usd_per_cached_input_mtok
        for price in prices
    )
