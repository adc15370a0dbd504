"""A call may be charged by several rows together: a model by the token, a search by the call."""

from __future__ import annotations

import pytest

from toolorchestra.pricing.combine import combined_price
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.types import Price, Usage

MODEL = Price(
    usd_per_input_mtok=2,
    usd_per_output_mtok=8,
    usd_per_cached_input_mtok=0.5,
    source="a page",
    date="2025-11-22",
    borrowed_from="official",
)
SEARCH = Price(usd_per_call=0.008, source="a list", date="2025-12-14")
SANDBOX = Price(usd_per_second=0.001, source="a log", date="2026-01-02")
USAGE = Usage(
    input_tokens=1_000, cached_input_tokens=400, output_tokens=100, compute_s=3, num_requests=2
)


def test_one_price_stays_as_it_is() -> None:
    assert combined_price([MODEL]) is MODEL


def test_a_model_a_search_and_a_sandbox_cost_their_sum() -> None:
    # 600 x $2 + 400 x $0.5 + 100 x $8 = $0.0022; one call $0.008; 3 s $0.003
    both = combined_price([MODEL, SEARCH, SANDBOX])
    assert cost_usd(USAGE, both) == pytest.approx(0.0132, abs=1e-12)
    apart = sum(cost_usd(USAGE, price) for price in (MODEL, SEARCH, SANDBOX))
    assert cost_usd(USAGE, both) == pytest.approx(apart, abs=1e-12)


def test_cached_input_without_a_rate_costs_what_other_input_does() -> None:
    # 600 x (2 + 1) + 400 x (0.5 + 1) = $0.0024
    other = Price(usd_per_input_mtok=1, source="x", date="y")
    usage = Usage(input_tokens=1_000, cached_input_tokens=400)
    assert cost_usd(usage, combined_price([MODEL, other])) == pytest.approx(0.0024, abs=1e-12)
    assert combined_price([SEARCH, other]).usd_per_cached_input_mtok is None


def test_the_sum_names_all_sources_and_every_lender_once() -> None:
    both = combined_price([MODEL, SEARCH, MODEL])
    assert (both.source, both.date) == (
        "a page; a list; a page",
        "2025-11-22; 2025-12-14; 2025-11-22",
    )
    assert both.borrowed_from == "official"
    assert combined_price([SEARCH, SANDBOX]).borrowed_from is None
