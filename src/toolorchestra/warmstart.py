"""Makes the tiny policy that ships with the project.

    python -m toolorchestra.warmstart [output_dir=...] [imitation.num_steps=...]

The policy imitated plays blindly, among tools whose names and looks are shuffled again and again,
so that all it can teach is how to call a tool that stands in the prompt, and how to hand on an
answer. What to call, and when, is left to reinforcement learning.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import cast

import hydra
import torch
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from toolorchestra.build import build_speaker
from toolorchestra.chat.messages import describe
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.dataset.source import make_source
from toolorchestra.engine.policies import RandomFormat
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.induction import write_induction
from toolorchestra.model.tokenizer import build_tokenizer
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.loop import Speaker
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.simulated import SimulatedExpert
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.imitation import StageConfig, fit, imitation_losses

log = logging.getLogger(__name__)

FIXED_RESULTS = ("no answer", "nothing found", "unknown", "error: ")
ROLES = ("system\n", "user\n", "assistant\n")


@dataclass(kw_only=True)
class ShapeConfig:
    """A Qwen3 model small enough to ship."""

    num_layers: int = 4
    width: int = 128
    mlp_width: int = 384
    num_heads: int = 4
    head_dim: int = 64
    """Wide heads: what one head can copy is bounded by its width."""
    vocab_size: int = 1100
    """Entries of the tokenizer before its added tokens."""


@dataclass(kw_only=True)
class WarmstartConfig:
    """What the tiny policy is made of."""

    toolsets: dict[str, ToolsetConfig]
    """All their words go into the tokenizer, and all their names are called in demonstrations."""
    hidden: list[str]
    """Toolsets whose descriptions stay unseen: they lend their names no looks."""
    pricing: PricingConfig
    preference: PreferenceConfig
    dataset: DatasetConfig
    model: ModelConfig
    rollout: RolloutConfig
    shape: ShapeConfig = field(default_factory=ShapeConfig)
    num_masks: int = 50
    """How often names and looks are shuffled."""
    episodes_per_mask: int = 80
    """Episodes demonstrated under each shuffle."""
    group_size: int = 4
    """Demonstrations of each episode."""
    groups_per_step: int = 8
    """Episodes whose demonstrations one imitation step learns."""
    another_call: float = 0.3
    """Probability of calling again although an answer was heard."""
    pair_of_calls: float = 0.05
    """Probability of two calls in one turn."""
    reach: int = 512
    """Tokens over which the policy can copy from the start."""
    imitation: StageConfig
    seed: int = 7
    output_dir: str = "src/toolorchestra/model/tiny"


ConfigStore.instance().store(name="warmstart_schema", node=WarmstartConfig)


def masked_toolset(options: WarmstartConfig, number: int) -> ToolsetConfig:
    """All known tool names, each with the looks of a random tool: names tell nothing here."""
    looks = [
        tool
        for key, toolset in sorted(options.toolsets.items())
        if key not in options.hidden
        for _, tool in sorted(toolset.tools.items())
    ]
    names = sorted({name for toolset in options.toolsets.values() for name in toolset.tools})
    rng = Random(f"{options.seed}/{number}")
    return ToolsetConfig(
        name=f"masked_{number}",
        tools={name: rng.choice(looks) for name in names},
        min_tools=3,
        max_tools=6,
    )


def corpus(
    options: WarmstartConfig, sampler_of: Callable[[ToolsetConfig], EpisodeSampler]
) -> list[str]:
    """What a prompt can say, for the tokenizer."""
    texts = [*FIXED_RESULTS, *ROLES] * 100
    for toolset in options.toolsets.values():
        sampler = sampler_of(toolset)
        for episode in map(sampler, range(1000)):
            wish = episode.preference.instruction
            texts.append(f"{episode.task.question}\nPreference: {wish}")
            texts.append(f"answer: {episode.task.answer}")
            for tool in episode.tools:
                texts += [tool.name, f" {describe(tool)}"]
        texts += list(toolset.tools) * 100
    return texts


def preamble(model: ModelConfig, texts: Sequence[str]) -> tuple[str, str]:
    """The fixed texts before and after the list of tools, read off the chat template."""
    plain = build_tokenizer(texts[:1000], preamble=(), vocab_size=300)
    renderer = Renderer(plain, template=builtin_template(), is_thinking=model.is_thinking)
    marker = {"type": "function", "function": {"name": "marker"}}
    text = renderer.text([{"role": "system", "content": model.system_prompt}], [marker])
    before, _, after = text.partition('{"type": "function", "function": {"name": "marker"}}')
    return before[before.index(model.system_prompt) :], after.partition(renderer.end_of_turn)[0]


def demonstrate(
    options: WarmstartConfig, toolset: ToolsetConfig, sampler: EpisodeSampler, speaker: Speaker
) -> list[list[TrainingRow]]:
    """Groups of random play; every tool is simulated, as only the format matters."""
    stage = Stage(
        tools={name: SimulatedExpert(name, tool) for name, tool in toolset.tools.items()},
        speaker=speaker,
        config=options.rollout,
        max_new_tokens=options.model.max_new_tokens,
        max_context=options.model.max_context,
    )
    policy = RandomFormat(another=options.another_call, pair=options.pair_of_calls)
    engine = ScriptedEngine(policy, speaker.tokenizer, end_id=speaker.renderer.end_of_turn_id)
    episodes = [sampler(index) for index in range(options.episodes_per_mask)]
    played = stage.play(engine, episodes, group_size=options.group_size, is_greedy=False)
    stage.close()
    return [
        [
            TrainingRow(row=row, advantage=0.0, name=rollout.episode_id)
            for rollout in item.rollouts
            for row in rollout.rows
        ]
        for item in played
    ]


def fresh_model(shape: ShapeConfig, tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """A Qwen3 model with random weights, its vocabulary rounded up to a multiple of 32."""
    return Qwen3ForCausalLM(  # type: ignore[no-untyped-call]
        Qwen3Config(
            vocab_size=-(-len(tokenizer) // 32) * 32,
            hidden_size=shape.width,
            intermediate_size=shape.mlp_width,
            num_hidden_layers=shape.num_layers,
            num_attention_heads=shape.num_heads,
            num_key_value_heads=shape.num_heads,
            head_dim=shape.head_dim,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        )
    )


@hydra.main(version_base="1.3", config_path="../../conf", config_name="warmstart")
def main(config: DictConfig) -> None:
    """Builds the tokenizer, writes in how to copy, imitates, and saves the policy."""
    options = cast(WarmstartConfig, OmegaConf.to_object(config))
    torch.set_num_threads(os.cpu_count() or 1)
    torch.manual_seed(options.seed)
    rng = Random(options.seed)
    tasks = make_source(options.dataset, seed=options.seed)

    def sampler_of(toolset: ToolsetConfig) -> EpisodeSampler:
        return EpisodeSampler(
            toolset=toolset,
            pricing=options.pricing,
            preference=options.preference,
            tasks=tasks,
            policy=options.model.priced_as,
            seed=options.seed,
            split="train",
        )

    texts = corpus(options, sampler_of)
    tokenizer = build_tokenizer(
        texts, preamble=preamble(options.model, texts), vocab_size=options.shape.vocab_size
    )
    speaker = build_speaker(options.model, tokenizer)
    groups = []
    for number in range(options.num_masks):
        toolset = masked_toolset(options, number)
        groups += demonstrate(options, toolset, sampler_of(toolset), speaker)
    model = fresh_model(options.shape, tokenizer)
    write_induction(model, reach=options.reach)
    losses = imitation_losses(model, groups, rng, num_groups=options.groups_per_step)
    fit(model, losses, options.imitation, on_step=_progress(options.imitation))
    model.bfloat16()
    model.save_pretrained(options.output_dir)
    tokenizer.save_pretrained(options.output_dir)
    size = sum(path.stat().st_size for path in Path(options.output_dir).iterdir())
    log.info(
        "wrote %s: %d parameters, %.1f MB", options.output_dir, model.num_parameters(), size / 1e6
    )


def _progress(stage: StageConfig) -> Callable[[int, float], None]:
    def tell(step: int, loss: float) -> None:
        if (step + 1) % 50 == 0 or step + 1 == stage.num_steps:
            log.info("step %d/%d: loss %.3f", step + 1, stage.num_steps, loss)

    return tell


if __name__ == "__main__":
    main()
