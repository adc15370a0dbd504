"""Checks, when the config is built, that a pricing leaves enough tools to offer.

Whatever an episode could draw is tried here, so that nothing is found to be missing hours later.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.draw import find_policy_price
from toolorchestra.pricing.schedule import build_price_book


def check_pricing(
    config: PricingConfig, *, models: Mapping[str, str], policy: str, min_tools: int = 1
) -> list[str]:
    """Looks up every tool under every schedule that an episode may draw.

    Args:
        config: A checked pricing.
        models: The model or service that each tool is priced as, by tool.
        policy: The model that the policy is priced as.
        min_tools: How many tools an episode offers at least.

    Returns:
        One sentence for each tool that is masked and each price that is borrowed.

    Raises:
        ValueError: A model is unknown, the policy has no price, or fewer than `min_tools` tools
            have one.
    """
    book = build_price_book(config)
    notes = []
    for schedule in config.draw:
        policy_price = find_policy_price(book, policy, schedule=schedule)
        prices = {tool: book.find(model, schedule=schedule) for tool, model in models.items()}
        num_priced = sum(price is not None for price in prices.values())
        if num_priced < min_tools:
            raise ValueError(
                f"pricing.draw: {schedule} is not allowed, as it leaves {num_priced} of "
                f"{len(models)} tools with a price; use a schedule or lenders that price at least "
                f"{min_tools}"
            )
        for tool, price in {**prices, "the policy": policy_price}.items():
            if price is None:
                notes.append(f"{tool} is masked: {models[tool]} has no price under {schedule}")
            elif price.borrowed_from is not None:
                notes.append(
                    f"{tool} pays a price borrowed from {price.borrowed_from} ({schedule})"
                )
    return notes
