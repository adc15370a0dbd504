"""From options to the objects that they describe; `toolorchestra.run` puts them together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from toolorchestra.benchmark.contest import Arena
from toolorchestra.benchmark.world import World
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.config import Config
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.dataset.source import TaskSource
from toolorchestra.dataset.split import Split
from toolorchestra.engine.transformers_engine import TransformersEngine
from toolorchestra.model.config import ModelConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.rollout.loop import Speaker
from toolorchestra.tool.base import Tool
from toolorchestra.tool.registry import build_tool
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.offer import shown_as
from toolorchestra.worlds import worlds_of


def build_tools(config: Config) -> dict[str, Tool]:
    """Every tool of every world, by name; a tool of two worlds is built once."""
    tools: dict[str, Tool] = {}
    for _, toolset, _, _ in worlds_of(config):
        for name, options in toolset.tools.items():
            if name not in tools:
                is_simulated = toolset.is_simulated(name)
                tools[name] = build_tool(name, options, is_simulated=is_simulated)
    return tools


def tool_labels(config: Config) -> Mapping[str, str]:
    """How tables show each tool: simulated ones begin with "sim/"."""
    return {
        name: shown_as(name, options, is_simulated=toolset.is_simulated(name))
        for _, toolset, _, _ in worlds_of(config)
        for name, options in toolset.tools.items()
    }


def build_speaker(config: ModelConfig, tokenizer: PreTrainedTokenizerBase) -> Speaker:
    """How the policy is spoken to."""
    renderer = Renderer(
        cast(PreTrainedTokenizerFast, tokenizer),
        template=builtin_template() if config.template == "qwen3" else None,
        is_thinking=config.is_thinking,
    )
    return Speaker(
        tokenizer=tokenizer,
        renderer=renderer,
        system_prompt=config.system_prompt,
        tool_style=config.tool_style,
    )


def build_engine(config: Config, model: PreTrainedModel, *, end_id: int) -> TransformersEngine:
    """The engine that samples from `model`."""
    return TransformersEngine(
        model,
        end_id=end_id,
        num_slots=config.rollout.max_concurrent,
        max_length=config.model.max_context,
        batch_wait_s=config.rollout.batch_wait_s,
        prefill_tokens=config.rollout.prefill_tokens,
    )


def build_sampler(
    config: Config, toolset: ToolsetConfig, pricing: PricingConfig, tasks: TaskSource, split: Split
) -> EpisodeSampler:
    """Draws the episodes of one world and split."""
    return EpisodeSampler(
        toolset=toolset,
        pricing=pricing,
        preference=config.preference,
        tasks=tasks,
        policy=config.model.priced_as,
        seed=config.seed,
        split=split,
    )


def build_arenas(config: Config, tasks: TaskSource) -> list[Arena]:
    """The worlds of the evaluation with their held-out episodes."""
    arenas = []
    for name, toolset, pricing, num_episodes in worlds_of(config):
        sampler = build_sampler(config, toolset, pricing, tasks, "heldout")
        arenas.append(
            Arena(
                name=name,
                world=World(toolset, horizon=config.benchmark.horizon),
                episodes=tuple(sampler(index) for index in range(num_episodes)),
            )
        )
    return arenas


def choices(options: Config) -> dict[str, Any]:
    """The options that tell the points of a sweep apart."""
    groups = (
        "toolset", "pricing", "preference", "reward", "dataset", "model", "rollout", "algorithm",
        "trainer",
    )  # fmt: skip
    named = {group: getattr(options, group).name for group in groups}
    return {"experiment": options.experiment.name, **named, "seed": options.seed}
