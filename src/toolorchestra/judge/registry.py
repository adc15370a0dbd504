"""From the options to the judge that they describe."""

from __future__ import annotations

from collections.abc import Callable

from toolorchestra.judge.base import Judge
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.llm import LlmJudge
from toolorchestra.judge.match import MATCHER
from toolorchestra.judge.price import judge_price
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.provider.base import ChatModel


def build_judge(
    config: JudgeConfig, pricing: PricingConfig, *, model: Callable[[str], ChatModel]
) -> Judge:
    """The judge of a run.

    Args:
        config: Its options.
        pricing: Where its model's price stands.
        model: Finds the client of a model by its name in the pricing; not asked for matchers.

    Raises:
        ValueError: Its model has no price or nobody serves it, or its cache cannot be used.
    """
    if config.kind == "match":
        return MATCHER
    price = judge_price(config, pricing)
    return LlmJudge(config, model=model(config.model), price=price)
