"""From the options to the judge that they describe."""

from __future__ import annotations

from toolorchestra.judge.base import Judge
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.llm import LlmJudge
from toolorchestra.judge.match import MATCHER
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.listed import listed_price
from toolorchestra.provider.providers import Providers


def build_judge(config: JudgeConfig, pricing: PricingConfig, providers: Providers | None) -> Judge:
    """The judge of a run.

    Args:
        config: Its options.
        pricing: Where its model's price stands.
        providers: Those of the run, who stay its to close; None will do for matchers.

    Raises:
        ValueError: Its model has no price or nobody serves it, or its cache cannot be used.
    """
    if config.kind == "match":
        return MATCHER
    assert providers is not None, "a judging model needs providers"
    price = listed_price(pricing, config.model, wanted_by="judge.model")
    model = providers.model(config.model, wanted_by="judge.model")
    return LlmJudge(config, model=model, price=price)
