"""From the options to the user that they describe."""

from __future__ import annotations

from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.listed import listed_price
from toolorchestra.provider.providers import Providers
from toolorchestra.tool.domain import Environments
from toolorchestra.user.config import UserConfig
from toolorchestra.user.llm import LlmUser
from toolorchestra.user.nobody import NOBODY
from toolorchestra.user.protocol import User
from toolorchestra.user.scripted import ScriptedUser


def build_user(
    config: UserConfig,
    pricing: PricingConfig,
    providers: Providers | None,
    environments: Environments,
) -> User:
    """The user of a run.

    Args:
        config: Its options.
        pricing: Where its model's price stands.
        providers: Those of the run, who stay its to close; only a model needs them.
        environments: Those of the run, in which the functions of domains work too.

    Raises:
        ValueError: Its model has no price, or nobody serves it.
    """
    if config.kind == "none":
        return NOBODY
    if config.kind == "scripted":
        return ScriptedUser(environments, patience=config.patience)
    assert providers is not None, "a model that plays the user needs providers"
    price = listed_price(pricing, config.model, wanted_by="user.model")
    model = providers.model(config.model, wanted_by="user.model")
    return LlmUser(config, model=model, price=price, environments=environments)
