"""Providers count cached input and reasoning within their totals, or beside them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolorchestra.pricing.cost import cost_usd
from toolorchestra.pricing.usage import estimate_usage, reported_usage, usage_from_json
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


CHAT = {
    "prompt_tokens": 10_000,
    "completion_tokens": 1_000,
    "total_tokens": 11_000,
    "prompt_tokens_details": {"cached_tokens": 8_000, "audio_tokens": None},
    "completion_tokens_details": {"reasoning_tokens": 600},
}
RESPONSES = {
    "input_tokens": 10_000,
    "input_tokens_details": {"cached_tokens": 8_000},
    "output_tokens": 1_000,
    "output_tokens_details": {"reasoning_tokens": 600},
    "total_tokens": 11_000,
}
DEEPSEEK = {
    "prompt_tokens": 10_000,
    "completion_tokens": 1_000,
    "prompt_cache_hit_tokens": 8_000,
    "prompt_cache_miss_tokens": 2_000,
    "completion_tokens_details": {"reasoning_tokens": 600},
}
ANTHROPIC = {
    "input_tokens": 1_500,
    "cache_creation_input_tokens": 500,
    "cache_read_input_tokens": 8_000,
    "output_tokens": 1_000,
    "reasoning_tokens": 600,
}
GEMINI = {
    "promptTokenCount": 10_000,
    "cachedContentTokenCount": 8_000,
    "candidatesTokenCount": 400,
    "thoughtsTokenCount": 600,
    "totalTokenCount": 11_000,
}
XAI = CHAT | {"completion_tokens": 400}
READ = {"is_cached_included": True, "is_reasoning_included": True}


@pytest.mark.parametrize(
    ("report", "is_cached_included", "is_reasoning_included"),
    [
        (CHAT, True, True),
        (RESPONSES, True, True),
        (DEEPSEEK, True, True),
        (ANTHROPIC, False, True),
        (GEMINI, True, False),
        (XAI, True, False),
    ],
)
def test_every_dialect_says_the_same_of_the_same_call(
    report: dict[str, object], is_cached_included: bool, is_reasoning_included: bool
) -> None:
    usage = usage_from_json(
        report, is_cached_included=is_cached_included, is_reasoning_included=is_reasoning_included
    )
    assert usage == Usage(
        input_tokens=10_000,
        output_tokens=1_000,
        cached_input_tokens=8_000,
        reasoning_tokens=600,
        num_requests=1,
    )
    # 2,000 x $2 + 8,000 x $0.20 + 1,000 x $8 a million
    assert cost_usd(usage, PRICE) == pytest.approx(0.0136, abs=1e-12)


def test_reasoning_that_only_the_grand_total_shows_is_paid_for_and_flagged() -> None:
    report = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 150}
    hidden = usage_from_json(report, is_cached_included=True, is_reasoning_included=False)
    assert hidden == Usage(
        input_tokens=100, output_tokens=50, reasoning_tokens=40, num_requests=1, is_estimated=True
    )


@pytest.mark.parametrize(
    "nothing",
    [
        None,
        {},
        [],
        "12",
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": "many", "completion_tokens": -1},
        {"total_tokens": 12},
        {"cost": 0.1},
    ],
)
def test_where_nothing_can_be_read_tokens_are_unknown_not_zero(nothing: Any) -> None:
    assert usage_from_json(nothing, **READ) is None


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"prompt_tokens": "10000"}, {}),
        ({"prompt_tokens": 10_000.0}, {}),
        ({"completion_tokens": None}, {}),  # the total has it
        ({"prompt_tokens": -5}, {}),
        ({"prompt_tokens": float("nan")}, {}),
        ({"prompt_tokens": float("inf")}, {}),
        ({"prompt_tokens": True}, {}),
        ({"prompt_tokens": 10**40}, {}),
        ({"prompt_tokens": "1" * 5_000}, {}),
        ({"prompt_tokens": [10_000]}, {}),
        ({"prompt_tokens": None, "total_tokens": None}, {"input": 0, "cached": 0}),
        ({"completion_tokens": None, "total_tokens": 9}, {"output": 0, "reasoning": 0}),
        ({"prompt_tokens_details": {"cached_tokens": -1}}, {"cached": 0}),
        ({"prompt_tokens_details": [8_000]}, {"cached": 0}),
        ({"prompt_tokens_details": {"cached_tokens": 20_000}}, {"cached": 10_000}),
        ({"completion_tokens_details": {"reasoning_tokens": 2_000}}, {"reasoning": 1_000}),
    ],
)
def test_odd_counts_are_mended_and_flagged_and_never_raise(
    change: dict[str, object], wanted: dict[str, int]
) -> None:
    usage = usage_from_json(CHAT | change, **READ)
    whole = {"input": 10_000, "output": 1_000, "cached": 8_000, "reasoning": 600} | wanted
    assert usage == Usage(
        input_tokens=whole["input"],
        output_tokens=whole["output"],
        cached_input_tokens=whole["cached"],
        reasoning_tokens=whole["reasoning"],
        num_requests=1,
        is_estimated=True,
    )
    assert cost_usd(usage, PRICE) >= 0


@pytest.mark.parametrize("key", ["prompt_tokens_details", "completion_tokens_details"])
@pytest.mark.parametrize("value", [None, {}, {"cached_tokens": None, "reasoning_tokens": None}])
def test_details_that_are_left_out_are_no_fault(key: str, value: object) -> None:
    usage = usage_from_json(CHAT | {key: value}, **READ)
    assert usage is not None and not usage.is_estimated
    assert (usage.input_tokens, usage.output_tokens) == (10_000, 1_000)


def test_embeddings_have_no_output() -> None:
    usage = usage_from_json({"prompt_tokens": 8, "total_tokens": 8}, **READ)
    assert usage == Usage(input_tokens=8, num_requests=1)


def test_input_is_what_the_cache_hit_and_missed() -> None:
    report = {key: value for key, value in DEEPSEEK.items() if key != "prompt_tokens"}
    usage = usage_from_json(report, **READ)
    assert usage is not None and usage.is_estimated
    assert (usage.input_tokens, usage.cached_input_tokens) == (10_000, 8_000)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens"]), inner)
    ),
    max_leaves=4,
)
KEYS = sorted({key for report in (CHAT, RESPONSES, DEEPSEEK, ANTHROPIC, GEMINI) for key in report})


@given(st.dictionaries(st.sampled_from(KEYS), json_values), st.booleans(), st.booleans())
def test_whatever_is_reported_can_be_priced_or_is_unknown(
    report: dict[str, object], is_cached_included: bool, is_reasoning_included: bool
) -> None:
    usage = usage_from_json(
        report, is_cached_included=is_cached_included, is_reasoning_included=is_reasoning_included
    )
    assert usage is None or (cost_usd(usage, PRICE) >= 0 and usage.num_requests == 1)


def test_an_answer_without_usage_is_one_request_and_an_estimate() -> None:
    # 9 and 5 characters, four to a token
    usage = usage_from_json(None, **READ) or estimate_usage("2 + 2 = ?", "4, so")
    assert usage == Usage(input_tokens=3, output_tokens=2, num_requests=1, is_estimated=True)


def test_a_tokenizers_count_is_an_estimate_too() -> None:
    usage = estimate_usage("one two", "three", count_tokens=lambda text: len(text.split()))
    assert usage == Usage(input_tokens=2, output_tokens=1, num_requests=1, is_estimated=True)


def test_nothing_said_is_no_token() -> None:
    assert estimate_usage("", "") == Usage(num_requests=1, is_estimated=True)
