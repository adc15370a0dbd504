"""Dollars from usage, with golden numbers worked out by hand."""

from __future__ import annotations

import pytest

from toolorchestra.pricing.cost import cost_usd
from toolorchestra.types import Price, Usage


def price(**rates: float) -> Price:
    return Price(**rates, source="test", date="2025-11-22")


def test_cached_input_and_reasoning_are_billed_once() -> None:
    # (2,000 fresh x $2 + 8,000 cached x $0.20 + 1,000 out x $8) / 1e6
    # = (4,000 + 1,600 + 8,000) / 1e6; cached twice gives 0.0296, reasoning twice 0.0184
    usage = Usage(
        input_tokens=10_000, cached_input_tokens=8_000, output_tokens=1_000, reasoning_tokens=600
    )
    rates = price(usd_per_input_mtok=2, usd_per_cached_input_mtok=0.2, usd_per_output_mtok=8)
    assert cost_usd(usage, rates) == pytest.approx(0.0136, abs=1e-12)


def test_cached_input_costs_as_much_as_any_other_where_no_cached_price_is_known() -> None:
    usage = Usage(input_tokens=10_000, cached_input_tokens=8_000)
    assert cost_usd(usage, price(usd_per_input_mtok=2)) == pytest.approx(0.02, abs=1e-12)


def test_a_cached_price_of_zero_is_a_price() -> None:
    usage = Usage(input_tokens=10_000, cached_input_tokens=8_000)
    rates = price(usd_per_input_mtok=2, usd_per_cached_input_mtok=0)
    assert cost_usd(usage, rates) == pytest.approx(0.004, abs=1e-12)


def test_a_call_and_its_seconds_are_billed() -> None:
    # $0.008 a call + 3 s x $8.3e-6
    rates = price(usd_per_call=0.008, usd_per_second=8.3e-6)
    assert cost_usd(Usage(compute_s=3), rates) == pytest.approx(0.0080249, abs=1e-12)


def test_a_million_tokens_in_and_out_cost_the_listed_rates() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    rates = price(usd_per_input_mtok=1.25, usd_per_output_mtok=10)
    assert cost_usd(usage, rates) == pytest.approx(11.25, abs=1e-12)


@pytest.mark.parametrize(
    ("usage", "key"),
    [
        (Usage(input_tokens=10, cached_input_tokens=11), "cached_input_tokens: 11"),
        (Usage(output_tokens=10, reasoning_tokens=11), "reasoning_tokens: 11"),
        (Usage(input_tokens=-1), "input_tokens: -1"),
        (Usage(output_tokens=-1), "output_tokens: -1"),
        (Usage(cached_input_tokens=-1), "cached_input_tokens: -1"),
        (Usage(compute_s=-0.5), "compute_s: -0.5"),
        (Usage(compute_s=float("nan")), "compute_s: nan"),
    ],
)
def test_usage_that_cannot_be_never_becomes_a_negative_cost(usage: Usage, key: str) -> None:
    with pytest.raises(ValueError, match=f"usage.{key} is not allowed"):
        cost_usd(usage, price(usd_per_input_mtok=2, usd_per_cached_input_mtok=0.2))
