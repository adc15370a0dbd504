"""Checks, when the config is built, that a pricing leaves enough tools to offer.

Whatever an episode could draw is tried here, so that nothing is found to be missing hours later.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.draw import find_policy_price
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.types import Price


def check_pricing(
    config: PricingConfig, *, models: Mapping[str, tuple[str, ...]], policy: str, min_tools: int = 1
) -> list[str]:
    """Looks up every tool under every schedule that an episode may draw.

    Args:
        config: A checked pricing.
        models: The models and services that each tool is charged as, by tool.
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
        prices = {
            tool: {row: book.find(row, schedule=schedule) for row in rows}
            for tool, rows in models.items()
        }
        num_priced = sum(None not in found.values() for found in prices.values())
        if num_priced < min_tools:
            raise ValueError(
                f"pricing.draw: {schedule} is not allowed, as it leaves {num_priced} of "
                f"{len(models)} tools with a price; use a schedule or lenders that price at least "
                f"{min_tools}"
            )
        prices["the policy"] = {policy: policy_price}
        for tool, found in prices.items():
            notes += _notes(tool, found, schedule)
    return notes


def _notes(tool: str, found: Mapping[str, Price | None], schedule: str) -> list[str]:
    masked = [
        f"{tool} is masked: {row} has no price under {schedule}"
        for row, price in found.items()
        if price is None
    ]
    lenders = [price.borrowed_from for price in found.values() if price and price.borrowed_from]
    borrowed = [
        f"{tool} pays a price borrowed from {lender} ({schedule})"
        for lender in dict.fromkeys(lenders)
    ]
    return masked or borrowed
