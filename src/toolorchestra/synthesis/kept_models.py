"""The models that a synthesis asks: who serves them, what they cost, and where replies are kept."""

from __future__ import annotations

from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.provider.config import ProvidersConfig
from toolorchestra.provider.providers import Providers
from toolorchestra.synthesis.kept import KeptModel, KeptReplies
from toolorchestra.types import Price


class KeptModels:
    """Makes models whose replies are kept, all of one event loop."""

    def __init__(
        self, provider: ProvidersConfig, pricing: PricingConfig, replies: KeptReplies
    ) -> None:
        """Asks nobody yet."""
        self._pricing, self._replies = pricing, replies
        self._providers = Providers(provider)

    def model(self, name: str, *, wanted_by: str, attempt: int | None = None) -> KeptModel:
        """A model by its name in the pricing schedules.

        Args:
            name: The model's name.
            wanted_by: The key of the config that names it, for errors.
            attempt: See `KeptModel`.

        Raises:
            ValueError: It has no price, nobody serves it, or its provider's key is not set.
        """
        price = self._price(name, wanted_by)
        model = self._providers.model(name, wanted_by=wanted_by)
        return KeptModel(model, name, price, self._replies, attempt=attempt)

    def _price(self, name: str, wanted_by: str) -> Price:
        schedule = self._pricing.draw[0]
        price = build_price_book(self._pricing).find(name, schedule=schedule)
        if price is None:
            raise ValueError(
                f"{wanted_by}: {name!r} has no price under the schedule {schedule} and is not "
                "allowed; use a model that it prices"
            )
        return price

    async def close(self) -> None:
        """Closes all connections."""
        await self._providers.close()
