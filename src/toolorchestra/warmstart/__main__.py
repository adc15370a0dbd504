"""Makes the tiny policy that ships with the project.

    python -m toolorchestra.warmstart [output_dir=...] [imitation.num_steps=...]

The policy imitated plays blindly and says something true of each tool that it calls. What to call,
and when, is left to reinforcement learning.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import cast

import hydra
import torch
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from toolorchestra.build import build_speaker
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.dataset.source import make_source
from toolorchestra.model.circuits import write_circuits
from toolorchestra.model.tokenizer import build_tokenizer
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.warmstart.config import ImitationConfig, ShapeConfig, WarmstartConfig
from toolorchestra.warmstart.demonstrations import demonstrate, masked_toolset
from toolorchestra.warmstart.imitation import fit, imitation_losses
from toolorchestra.warmstart.vocabulary import corpus, landmarks_of, preamble

log = logging.getLogger(__name__)

ConfigStore.instance().store(name="warmstart_schema", node=WarmstartConfig)

TELL_EVERY = 50
"""Steps between two lines of progress, which tell their mean loss."""
ROPE_THETA = 1e8
"""Slow enough for many rotary pairs to stand still over a prompt: circuits match by those."""

MAX_POSITIONS = 16_384
"""Room for a domain's functions and rules, and for what its calls give. Nothing is kept for it."""


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
            max_position_embeddings=MAX_POSITIONS,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        )
    )


@hydra.main(version_base="1.3", config_path="../../../conf", config_name="warmstart")
def main(config: DictConfig) -> None:
    """Builds the tokenizer, writes in how to copy, imitates, and saves the policy."""
    options = cast(WarmstartConfig, OmegaConf.to_object(config))
    torch.set_num_threads(len(os.sched_getaffinity(0)))
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
    names = {name for toolset in options.toolsets.values() for name in toolset.tools}
    write_circuits(model, landmarks_of(speaker, names), reach=options.reach)
    losses = imitation_losses(model, groups, rng, num_groups=options.groups_per_step)
    fit(model, losses, options.imitation, on_step=_progress(options.imitation))
    model.bfloat16()
    model.save_pretrained(options.output_dir)
    tokenizer.save_pretrained(options.output_dir)
    size = sum(path.stat().st_size for path in Path(options.output_dir).iterdir())
    log.info(
        "wrote %s: %d parameters, %.1f MB", options.output_dir, model.num_parameters(), size / 1e6
    )


def _progress(options: ImitationConfig) -> Callable[[int, float], None]:
    recent: deque[float] = deque(maxlen=TELL_EVERY)

    def tell(step: int, loss: float) -> None:
        recent.append(loss)
        if (step + 1) % TELL_EVERY == 0 or step + 1 == options.num_steps:
            mean = sum(recent) / len(recent)
            log.info("step %d/%d: loss %.3f", step + 1, options.num_steps, mean)

    return tell


if __name__ == "__main__":
    main()
