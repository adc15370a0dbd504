"""Price tables that mix units, forget a figure or invent one are refused by their whole key."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.pricing.config import PriceConfig, PricingConfig, ScheduleConfig

SOURCE = {"source": "a page", "date": "2025-11-22"}


def pricing(price: PriceConfig | None = None, **changes: Any) -> PricingConfig:
    price = price or PriceConfig(unit="mtok", input=1.25, output=10, **SOURCE)
    fields: dict[str, Any] = {
        "name": "test",
        "schedules": {"vendor": ScheduleConfig(prices={"GPT-5": price})},
        "draw": ["vendor"],
    }
    return PricingConfig(**(fields | changes))


@pytest.mark.parametrize(
    ("figures", "key"),
    [
        ({"input": 0.15, "output": 0.6}, "unit"),
        ({"unit": "million", "input": 0.15, "output": 0.6}, "unit"),
        ({"unit": "token", "input": 0.15, "output": 0.6}, "input"),
        ({"unit": "token", "input": 1e-7, "output": 0.001}, "output"),
        ({"unit": "ktok", "input": 0.15, "output": 1.0}, "output"),
        ({"unit": "mtok", "input": 8000, "output": 35000}, "input"),
        ({"unit": "mtok", "input": 1, "output": 2, "cached_input": 1000}, "cached_input"),
        ({"unit": "mtok", "input": -1, "output": 10}, "input"),
        ({"unit": "mtok", "input": 1, "output": float("nan")}, "output"),
        ({"unit": "mtok", "input": 1, "output": 1, "cached_input": -0.1}, "cached_input"),
        ({"unit": "mtok", "input": 1}, "output"),
        ({"unit": "mtok", "output": 1}, "input"),
        ({"unit": "mtok"}, "input"),
        ({"usd_per_call": -0.008}, "usd_per_call"),
        ({"usd_per_second": float("inf")}, "usd_per_second"),
        ({}, "is_free"),
        ({"unit": "mtok", "input": 0, "output": 0}, "is_free"),
        ({"is_free": True, "usd_per_call": 0.008}, "is_free"),
    ],
)
def test_a_price_that_cannot_be_meant_is_refused(figures: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=rf"^pricing\.schedules\.vendor\.prices\.GPT-5\.{key}: "):
        pricing(PriceConfig(**figures, **SOURCE))


def test_a_price_just_below_the_bound_is_accepted() -> None:
    pricing(PriceConfig(unit="token", input=0.000999, output=0.000999, **SOURCE))


@pytest.mark.parametrize("lost", ["source", "date"])
def test_a_figure_without_source_or_date_is_refused(lost: str) -> None:
    with pytest.raises(ValueError, match=rf"prices\.GPT-5\.{lost}: nothing is not allowed"):
        pricing(PriceConfig(usd_per_call=1, **(SOURCE | {lost: " "})))


def test_a_price_of_zero_must_be_meant() -> None:
    assert pricing(PriceConfig(is_free=True, **SOURCE))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("draw", []),
        ("draw", ["vender"]),
        ("borrow", ["lender"]),
        ("missing", "copy"),
        ("jitter", 0.5),
        ("jitter", float("inf")),
        ("jitter", float("nan")),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^pricing\.{key}: .* is not allowed; use "):
        pricing(**{key: value})


@pytest.mark.parametrize("version", ["2026", "29.11.2026", "v2", "2026-11-29 "])
def test_a_version_is_a_day(version: str) -> None:
    assert pricing(schedules={"vendor": ScheduleConfig(version="2026-11-29")})
    with pytest.raises(ValueError, match="pricing.schedules.vendor.version: .* is not allowed"):
        pricing(schedules={"vendor": ScheduleConfig(version=version)})
