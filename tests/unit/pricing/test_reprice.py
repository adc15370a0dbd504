"""An entry is recomputed from its usage alone; what has no price is unknown, never free."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.pricing.config import PriceConfig, PricingConfig, ScheduleConfig
from toolorchestra.pricing.reprice import Repriced, reprice
from toolorchestra.pricing.schedule import PriceBook, build_price_book
from toolorchestra.types import LedgerEntry, Usage

SOURCE = {"source": "a page", "date": "2025-11-22"}


def tokens(rate: float) -> PriceConfig:
    return PriceConfig(unit="mtok", input=rate, output=8 * rate, **SOURCE)


def book(**changes: Any) -> PriceBook:
    fields: dict[str, Any] = {
        "name": "test",
        "schedules": {
            "own": ScheduleConfig(prices={"big-4-1": tokens(1)}, unpriced=["nobody-sells"]),
            "lender": ScheduleConfig(prices={"small": tokens(2)}),
            "services": ScheduleConfig(
                prices={
                    "search": PriceConfig(usd_per_call=0.008, **SOURCE),
                    "free": PriceConfig(is_free=True, **SOURCE),
                },
                is_shared=True,
            ),
        },
        "draw": ["own"],
        "borrow": ["lender"],
    }
    return build_price_book(PricingConfig(**(fields | changes)))


def entry(*rows: str) -> LedgerEntry:
    return LedgerEntry(
        kind="tool",
        name="expert",
        priced_as=rows,
        usage=Usage(input_tokens=1_000, output_tokens=500),
        cost_usd=123.0,
        latency_s=1.0,
        turn=0,
    )


def test_the_cost_is_the_schedules_whatever_was_billed() -> None:
    # 1,000 x $1 + 500 x $8 a million
    found = reprice(entry("big-4-1"), book(), schedule="own")
    assert found.cost_usd == pytest.approx(0.005, abs=1e-15)
    assert (found.lenders, found.unpriced) == ((), ())


def test_rows_are_charged_together() -> None:
    found = reprice(entry("big-4-1", "search"), book(), schedule="own")
    assert found.cost_usd == pytest.approx(0.013, abs=1e-15)


def test_a_borrowed_price_names_its_lender() -> None:
    found = reprice(entry("small"), book(), schedule="own")
    assert found.cost_usd == pytest.approx(0.010, abs=1e-15)
    assert found.lenders == ("lender",)


def test_what_is_free_costs_nothing_and_is_known() -> None:
    assert reprice(entry("free"), book(), schedule="own") == Repriced(cost_usd=0.0)


@pytest.mark.parametrize("row", ["nobody-sells", "big-4.1"])
def test_a_model_without_a_price_is_unknown_and_never_zero(row: str) -> None:
    assert reprice(entry(row), book(), schedule="own") == Repriced(cost_usd=None, unpriced=(row,))


def test_a_part_of_a_price_is_no_price() -> None:
    found = reprice(entry("search", "nobody-sells"), book(), schedule="own")
    assert (found.cost_usd, found.unpriced) == (None, ("nobody-sells",))


@pytest.mark.parametrize("rule", ["mask", "refuse"])
def test_nothing_is_borrowed_where_the_pricing_lends_nothing(rule: str) -> None:
    assert reprice(entry("small"), book(missing=rule), schedule="own").cost_usd is None


def test_an_entry_that_names_no_row_is_unknown() -> None:
    assert reprice(entry(), book(), schedule="own").cost_usd is None
