"""An episode's prices follow its seed alone and stay within the jitter."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolorchestra.pricing.config import PriceConfig, PricingConfig, ScheduleConfig
from toolorchestra.pricing.draw import DrawnPrices, draw_prices, scale_price
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.types import Price

MODELS = {
    "gpt_5": ("GPT-5",),
    "gpt_5_code": ("GPT-5",),
    "mini": ("GPT-5-mini",),
    "gone": ("nobody-sells",),
}


def tokens(rate: float) -> PriceConfig:
    return PriceConfig(unit="mtok", input=rate, output=8 * rate, source="a page", date="2025")


def draw(
    seed: int,
    *,
    jitter: float = 2.0,
    policy: str = "Qwen3-8B",
    tools: dict[str, tuple[str, ...]] = MODELS,
) -> DrawnPrices:
    models = ("GPT-5", "GPT-5-mini", "Qwen3-8B")
    config = PricingConfig(
        name="test",
        schedules={
            "first": ScheduleConfig(
                prices={m: tokens(i + 1) for i, m in enumerate(models)}, unpriced=["nobody-sells"]
            ),
            "second": ScheduleConfig(prices={m: tokens(10 * i + 10) for i, m in enumerate(models)}),
        },
        draw=["first", "second"],
    )
    return draw_prices(
        build_price_book(config),
        schedules=config.draw,
        jitter=jitter,
        models=tools,
        policy=policy,
        rng=Random(seed),
    )


def test_the_same_seed_draws_the_same_prices() -> None:
    assert draw(3) == draw(3)
    assert draw(3) != draw(4)


def test_without_jitter_prices_are_as_listed() -> None:
    listed = {"first": (1, 2), "second": (10, 20)}
    for seed in range(10):
        drawn = draw(seed, jitter=1.0)
        rates = (drawn.tools["gpt_5"].usd_per_input_mtok, drawn.tools["mini"].usd_per_input_mtok)
        assert rates == listed[drawn.schedule]


def test_every_schedule_is_drawn_sooner_or_later() -> None:
    assert {draw(seed).schedule for seed in range(30)} == {"first", "second"}


def test_tools_of_one_model_keep_one_price() -> None:
    drawn = draw(5)
    assert drawn.tools["gpt_5"] == drawn.tools["gpt_5_code"]


def test_a_tool_without_a_price_is_absent() -> None:
    assert set(draw(1).tools) == {"gpt_5", "gpt_5_code", "mini"}


def test_the_policys_price_is_never_varied() -> None:
    for seed in range(10):
        drawn = draw(seed)
        assert drawn.policy.usd_per_input_mtok == {"first": 3, "second": 30}[drawn.schedule]


def test_a_policy_without_a_price_is_refused() -> None:
    with pytest.raises(ValueError, match="model.priced_as: 'nobody-sells' has no price"):
        draw(1, policy="nobody-sells")


@given(seed=st.integers(0, 10_000), jitter=st.floats(1, 10))
def test_factors_stay_within_the_jitter(seed: int, jitter: float) -> None:
    drawn = draw(seed, jitter=jitter)
    listed = {"first": 1, "second": 10}[drawn.schedule]
    factor = drawn.tools["gpt_5"].usd_per_input_mtok / listed
    assert 1 / jitter * (1 - 1e-9) <= factor <= jitter * (1 + 1e-9)


def test_factors_are_even_on_the_logarithm() -> None:
    # half of them must fall below 1; a uniform draw from [1/2, 2] would put a third there
    below = sum(
        drawn.tools["gpt_5"].usd_per_input_mtok < {"first": 1, "second": 10}[drawn.schedule]
        for drawn in map(draw, range(400))
    )
    assert 160 <= below <= 240


def test_scaling_touches_every_rate_and_nothing_else() -> None:
    price = Price(
        usd_per_input_mtok=1,
        usd_per_output_mtok=2,
        usd_per_cached_input_mtok=3,
        usd_per_call=4,
        usd_per_second=5,
        source="a page",
        date="2025",
        borrowed_from="official",
    )
    scaled = scale_price(price, 2.0)
    assert scaled == replace(
        price,
        usd_per_input_mtok=2,
        usd_per_output_mtok=4,
        usd_per_cached_input_mtok=6,
        usd_per_call=8,
        usd_per_second=10,
    )
    assert scale_price(replace(price, usd_per_cached_input_mtok=None), 2.0) == replace(
        scaled, usd_per_cached_input_mtok=None
    )


def test_a_tool_of_several_rows_pays_their_sum() -> None:
    both = {"both": ("GPT-5", "GPT-5-mini"), "one": ("GPT-5",)}
    listed = {"first": 1 + 2, "second": 10 + 20}
    drawn = draw(0, jitter=1.0, tools=both)
    assert drawn.tools["both"].usd_per_input_mtok == listed[drawn.schedule]


def test_each_row_is_varied_by_its_models_own_factor() -> None:
    tools = {"both": ("GPT-5", "GPT-5-mini"), "big": ("GPT-5",), "small": ("GPT-5-mini",)}
    drawn = draw(3, tools=tools)
    rates = {name: price.usd_per_input_mtok for name, price in drawn.tools.items()}
    assert rates["both"] == pytest.approx(rates["big"] + rates["small"])


def test_a_tool_is_masked_where_any_of_its_rows_has_no_price() -> None:
    drawn = draw(0, tools={"whole": ("GPT-5",), "part": ("GPT-5", "nobody-sells")})
    assert drawn.tools.keys() == {"whole"}
