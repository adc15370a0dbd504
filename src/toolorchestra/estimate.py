"""What an evaluation is likely to cost at providers, reckoned before anything is paid.

It is a guess: how often a policy calls, and how much a judge or a user writes, is only known once
they have. Each assumption is told with the figure that came of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from toolorchestra.benchmark.contest import Arena
from toolorchestra.config import PlayConfig
from toolorchestra.domain.goal import ANSWER_KIND
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.pricing.config import CHARACTERS_PER_TOKEN, PricingConfig
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.pricing.listed import listed_price
from toolorchestra.provider.config import ProvidersConfig
from toolorchestra.tool.config import SIMULATED_KINDS
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.types import Usage
from toolorchestra.worlds import worlds_of

CALLS = 3
"""Calls of paid tools that a trial is taken to make."""
POLICY_INPUT_TOKENS, POLICY_OUTPUT_TOKENS = 4000, 500
"""Of each message of a policy behind an API: one for each call, and the answer."""
JUDGED_CHARS, JUDGE_OUTPUT_TOKENS = 1000, 500
"""Of question, right answer and given answer together; and of a verdict with its reasoning."""
USER_REPLIES, USER_INPUT_TOKENS, USER_OUTPUT_TOKENS = 5, 2000, 200
"""Of a model that plays the user in one trial, and of each of its replies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One thing that will be paid for."""

    usd: float
    how: str
    """How it was reckoned, in words."""


def estimate(
    options: PlayConfig, arenas: Sequence[Arena], left: Mapping[str, int], *, num_policy: int
) -> tuple[Item, ...]:
    """What the trials that are left are likely to cost; nothing where no provider is paid.

    Args:
        options: Those of the command.
        arenas: What is played.
        left: Trials to be played, by world.
        num_policy: Those of them that the config's own policy plays.
    """
    if options.provider.cassette.mode == "replay":
        return ()
    toolsets = {name: toolset for name, toolset, _, _ in worlds_of(options)}
    items = [
        _tools(options, arena, toolsets[arena.name], left[arena.name])
        for arena in arenas
        if left[arena.name]
    ]
    num_goals = round(sum(_share_of_goals(arena) * left[arena.name] for arena in arenas))
    num_questions = sum(left.values()) - num_goals
    items.append(judging(options.judge, options.pricing, options.provider, num_questions))
    items.append(_users(options, num_goals))
    items.append(_policy(options, num_policy))
    return tuple(item for item in items if item is not None and item.usd > 0)


def judging(
    judge: JudgeConfig, pricing: PricingConfig, provider: ProvidersConfig, num_answers: int
) -> Item | None:
    """What a judging model is likely to cost; None where nobody is paid."""
    if judge.kind != "llm" or not is_paid(provider, judge.model) or not num_answers:
        return None
    num_chars = len(judge.system) + len(judge.user) + JUDGED_CHARS
    input_tokens = math.ceil(num_chars / CHARACTERS_PER_TOKEN)
    usage = Usage(input_tokens=input_tokens, output_tokens=JUDGE_OUTPUT_TOKENS)
    each_usd = cost_usd(usage, listed_price(pricing, judge.model, wanted_by="judge.model"))
    return Item(
        usd=num_answers * each_usd,
        how=f"judge {judge.model}: {num_answers} answers × ${each_usd:.5f} for {input_tokens} "
        f"tokens in and {JUDGE_OUTPUT_TOKENS} out, as if it were asked about every one",
    )


def is_paid(provider: ProvidersConfig, model: str) -> bool:
    """Whether a model is asked of somebody who needs a key: servers of one's own send no bill."""
    found = provider.serving(model)
    return found is not None and bool(found[1].key_env)


def _share_of_goals(arena: Arena) -> float:
    """How many of its tasks are a domain's: these have users, and no judge."""
    return fmean(episode.task.answer_kind == ANSWER_KIND for episode in arena.episodes)


def _tools(
    options: PlayConfig, arena: Arena, toolset: ToolsetConfig, num_trials: int
) -> Item | None:
    paid = {
        name
        for name, tool in toolset.tools.items()
        if not toolset.is_simulated(name)
        and (
            tool.kind == "mcp"
            or (tool.kind in SIMULATED_KINDS and is_paid(options.provider, tool.priced_as))
        )
    }
    means = []
    for episode in arena.episodes:
        costs = [tool.call_cost_usd for tool in episode.tools if tool.name in paid]
        means.append(fmean(costs) if costs else 0.0)
    if not any(means):
        return None
    each_usd = CALLS * fmean(means)
    how = f"{CALLS} calls of ${fmean(means):.5f}, the mean of typical calls of the tools offered"
    limit_usd = options.rollout.max_cost_usd
    if limit_usd is not None and limit_usd < each_usd:
        each_usd, how = limit_usd, f"${limit_usd:g}, the most that rollout.max_cost_usd allows"
    return Item(
        usd=num_trials * each_usd,
        how=f"tools in the {arena.name} world: {num_trials} trials × {how}",
    )


def _policy(options: PlayConfig, num_trials: int) -> Item | None:
    api = options.model.api
    if api is None or not options.provider.providers[api.provider].key_env or not num_trials:
        return None
    usage = Usage(input_tokens=POLICY_INPUT_TOKENS, output_tokens=POLICY_OUTPUT_TOKENS)
    price = listed_price(options.pricing, options.model.priced_as, wanted_by="model.priced_as")
    each_usd = (CALLS + 1) * cost_usd(usage, price)
    return Item(
        usd=num_trials * each_usd,
        how=f"policy {options.model.path}: {num_trials} trials × {CALLS + 1} messages of "
        f"{POLICY_INPUT_TOKENS} tokens in and {POLICY_OUTPUT_TOKENS} out",
    )


def _users(options: PlayConfig, num_trials: int) -> Item | None:
    user = options.user
    if user.kind != "llm" or not is_paid(options.provider, user.model) or not num_trials:
        return None
    usage = Usage(input_tokens=USER_INPUT_TOKENS, output_tokens=USER_OUTPUT_TOKENS)
    each_usd = cost_usd(usage, listed_price(options.pricing, user.model, wanted_by="user.model"))
    return Item(
        usd=num_trials * USER_REPLIES * each_usd,
        how=f"user {user.model}: {num_trials} trials × {USER_REPLIES} replies of ${each_usd:.5f} "
        f"for {USER_INPUT_TOKENS} tokens in and {USER_OUTPUT_TOKENS} out",
    )
