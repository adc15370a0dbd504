"""What the judge costs: its model's price, as listed, under the first schedule of the pricing."""

from __future__ import annotations

from toolorchestra.judge.config import JudgeConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.types import Price


def judge_price(config: JudgeConfig, pricing: PricingConfig) -> Price:
    """The price of a judging model's tokens. It is never varied: nobody is told it.

    Raises:
        ValueError: The pricing has none.
    """
    schedule = pricing.draw[0]
    price = build_price_book(pricing).find(config.model, schedule=schedule)
    if price is None:
        raise ValueError(
            f"judge.model: {config.model!r} has no price under the schedule {schedule} and is not "
            "allowed; use a model that it prices, or pricing.missing=borrow with a lender that "
            "prices it"
        )
    return price
