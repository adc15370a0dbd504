"""What a model costs that works for us, such as a judge: as listed, under the first schedule."""

from __future__ import annotations

from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.types import Price


def listed_price(pricing: PricingConfig, model: str, *, wanted_by: str) -> Price:
    """The price of such a model's tokens. It is never varied: nobody is told it.

    Args:
        pricing: Where it stands.
        model: The model's name there.
        wanted_by: The key of the config that names the model, for errors.

    Raises:
        ValueError: The pricing has none.
    """
    schedule = pricing.draw[0]
    price = build_price_book(pricing).find(model, schedule=schedule)
    if price is None:
        raise ValueError(
            f"{wanted_by}: {model!r} has no price under the schedule {schedule} and is not "
            "allowed; use a model that it prices, or pricing.missing=borrow with a lender that "
            "prices it"
        )
    return price
