"""What the tiny policy imitates: blind play among tools whose names and looks are shuffled.

The same task is met with ever other tools, and half of the answers are a few random words: all
that can be learned is how to call a tool that stands in the prompt, what to say of it, and how to
hand on an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import cast

from transformers import PreTrainedTokenizerFast

from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.engine.policies import RandomFormat
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.model.tokenizer import entries
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.config import ToolConfig
from toolorchestra.tool.simulated import SimulatedExpert
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.types import Episode, Json, ToolResult
from toolorchestra.warmstart.config import WarmstartConfig

SILENCES = ("no answer", "nothing found", "error: SyntaxError: invalid syntax (line 1)")
"""Results without an answer."""
SOURCED = 0.3
"""Share of answers that come with their source."""
MADE_UP_WORDS = (1, 5)
"""Fewest and most random words of a made-up answer."""
PLAIN = re.compile(r" ?[A-Za-z0-9+\-*/.,:()=']+")
"""Vocabulary that any answer could be made of."""


def masked_toolset(options: WarmstartConfig, number: int) -> ToolsetConfig:
    """All known tool names, each with the looks of a random tool: names tell nothing here."""
    # roles go with tools that carry out what is written, which are other tools here
    looks = [
        replace(tool, role="answer", uses="")
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


def with_made_up_answer(episode: Episode, words: Sequence[str]) -> Episode:
    """The episode as if its answer were a few random words."""
    rng = Random(f"{episode.seed}/made up")
    answer = "".join(rng.choices(words, k=rng.randint(*MADE_UP_WORDS))).strip() or "none"
    return replace(episode, task=replace(episode.task, answer=answer))


class Lookalike:
    """A tool that answers by luck, in the words of any of the real tools."""

    def __init__(self, name: str, config: ToolConfig) -> None:
        self._name, self._expert = name, SimulatedExpert(name, config)

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Draws one answer, sometimes with its source."""
        result = await self._expert.call(arguments, context)
        rng = Random(f"{context.episode.seed}/{self._name}/{context.call_number}/words")
        if result.status != "ok":
            return replace(result, content=rng.choice(SILENCES))
        if rng.random() >= SOURCED:
            return result
        said = context.episode.task.question.rstrip("?.")
        source = f"{said} is {result.content.removeprefix('answer: ')}."
        return replace(result, content=f"{result.content}\nsource: {source}")

    async def close_session(self, session: str) -> None:
        """Holds nothing."""

    async def close(self) -> None:
        """Holds nothing."""


def demonstrate(
    options: WarmstartConfig, toolset: ToolsetConfig, sampler: EpisodeSampler, speaker: Speaker
) -> list[list[TrainingRow]]:
    """Groups of random play; every tool is simulated, as only the format matters."""
    stage = Stage(
        tools={name: Lookalike(name, tool) for name, tool in toolset.tools.items()},
        speaker=speaker,
        config=options.rollout,
        max_new_tokens=options.model.max_new_tokens,
        max_context=options.model.max_context,
    )
    vocabulary = entries(cast(PreTrainedTokenizerFast, speaker.tokenizer))
    words = [text for text in vocabulary.values() if PLAIN.fullmatch(text)]
    policy = RandomFormat(another=options.another_call)
    engine = ScriptedEngine(policy, speaker.tokenizer, end_id=speaker.renderer.end_of_turn_id)
    num_made_up = round(options.made_up_answers * options.episodes_per_mask)
    episodes = [
        with_made_up_answer(episode, words) if index < num_made_up else episode
        for index, episode in enumerate(map(sampler, range(options.episodes_per_mask)))
    ]
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
