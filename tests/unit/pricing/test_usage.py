"""Providers count cached input and reasoning within their totals, or beside them."""

from __future__ import annotations

import pytest

from toolorchestra.pricing.cost import cost_usd
from toolorchestra.pricing.usage import reported_usage
from toolorchestra.types import Price, Usage

PRICE = Price(
    usd_per_input_mtok=2,
    usd_per_cached_input_mtok=0.2,
    usd_per_output_mtok=8,
    source="test",
    date="2025-11-22",
)


@pytest.mark.parametrize(
    ("input_tokens", "output_tokens", "is_included"), [(10_000, 1_000, True), (2_000, 400, False)]
)
def test_both_ways_of_counting_cost_the_same(
    input_tokens: int, output_tokens: int, is_included: bool
) -> None:
    usage = reported_usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_input_tokens=8_000,
        reasoning_tokens=600,
        is_cached_included=is_included,
        is_reasoning_included=is_included,
    )
    assert (usage.input_tokens, usage.output_tokens) == (10_000, 1_000)
    assert not usage.is_estimated
    assert cost_usd(usage, PRICE) == pytest.approx(0.0136, abs=1e-12)


def test_more_cached_than_input_is_cut_and_flagged() -> None:
    usage = reported_usage(
        input_tokens=100,
        output_tokens=10,
        cached_input_tokens=150,
        is_cached_included=True,
        is_reasoning_included=True,
    )
    assert usage == Usage(
        input_tokens=100, output_tokens=10, cached_input_tokens=100, is_estimated=True
    )
    assert cost_usd(usage, PRICE) > 0


def test_more_reasoning_than_output_is_cut_and_flagged() -> None:
    usage = reported_usage(
        input_tokens=100,
        output_tokens=10,
        reasoning_tokens=11,
        is_cached_included=True,
        is_reasoning_included=True,
    )
    assert usage.reasoning_tokens == 10
    assert usage.is_estimated
