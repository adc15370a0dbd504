"""What an episode could draw is tried when the config is built."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.pricing.check import check_pricing
from toolorchestra.pricing.config import PriceConfig, PricingConfig, ScheduleConfig

SOURCE = {"source": "a page", "date": "2025-11-22"}
TOKENS = PriceConfig(unit="mtok", input=1, output=1, **SOURCE)


def pricing(**changes: Any) -> PricingConfig:
    fields: dict[str, Any] = {
        "name": "test",
        "schedules": {
            "first": ScheduleConfig(prices={"own": TOKENS}, unpriced=["nobody-sells"]),
            "second": ScheduleConfig(prices={"lent": TOKENS}),
        },
        "draw": ["first"],
        "borrow": ["second"],
    }
    return PricingConfig(**(fields | changes))


def test_masked_and_borrowed_prices_are_told() -> None:
    models = {"a": ("own",), "b": ("lent",), "c": ("nobody-sells",)}
    assert check_pricing(pricing(), models=models, policy="own") == [
        "b pays a price borrowed from second (first)",
        "c is masked: nobody-sells has no price under first",
    ]


def test_a_policy_on_a_borrowed_price_is_told() -> None:
    assert check_pricing(pricing(), models={"a": ("own",)}, policy="lent") == [
        "the policy pays a price borrowed from second (first)"
    ]


def test_nothing_is_told_where_every_price_is_the_schedules_own() -> None:
    assert check_pricing(pricing(), models={"a": ("own",)}, policy="own") == []


def test_every_schedule_that_may_be_drawn_is_tried() -> None:
    notes = check_pricing(
        pricing(draw=["first", "second"], borrow=["first", "second"]),
        models={"a": ("own",)},
        policy="lent",
    )
    assert notes == [
        "the policy pays a price borrowed from second (first)",
        "a pays a price borrowed from first (second)",
    ]


def test_masking_every_tool_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves 0 of 1 tools with a price"):
        check_pricing(pricing(missing="mask"), models={"b": ("lent",)}, policy="own")


def test_masking_more_than_the_smallest_subset_can_spare_is_refused() -> None:
    models = {"a": ("own",), "b": ("lent",)}
    with pytest.raises(ValueError, match="leaves 1 of 2 tools with a price; use .* at least 2"):
        check_pricing(pricing(missing="mask"), models=models, policy="own", min_tools=2)


def test_a_misspelt_model_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="'onw' is in none of"):
        check_pricing(pricing(), models={"a": ("onw",)}, policy="own")


def test_a_policy_without_a_price_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="model.priced_as: 'lent' has no price"):
        check_pricing(pricing(missing="mask"), models={"a": ("own",)}, policy="lent")


def test_a_tool_of_several_rows_is_masked_by_each_that_has_no_price() -> None:
    models = {"a": ("own",), "b": ("own", "nobody-sells"), "c": ("lent", "own")}
    assert check_pricing(pricing(), models=models, policy="own") == [
        "b is masked: nobody-sells has no price under first",
        "c pays a price borrowed from second (first)",
    ]
