"""What the tiny policy's tokenizer is trained on, and what its written-in circuits go by."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from transformers import PreTrainedTokenizerFast

from toolorchestra.chat.messages import describe
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.engine.policies import ASKED, GUESS, call_text, thought_text
from toolorchestra.model.circuits import Landmarks
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.tokenizer import build_tokenizer, entries
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.warmstart.config import WarmstartConfig
from toolorchestra.warmstart.demonstrations import SILENCES

RATING = re.compile(r"[a-z]+ [1-5]")
ROLES = ("system\n", "user\n", "assistant\n")


def corpus(
    options: WarmstartConfig, sampler_of: Callable[[ToolsetConfig], EpisodeSampler]
) -> list[str]:
    """What a prompt can say, for the tokenizer."""
    texts = [*SILENCES, *ROLES, "source:", "unknown", ASKED, GUESS] * 100
    texts += [f"{space}{number:02d}" for number in range(100) for space in ("", " ")] * 30
    for toolset in options.toolsets.values():
        sampler = sampler_of(toolset)
        for episode in map(sampler, range(1000)):
            wish = episode.preference.instruction
            texts.append(f"{episode.task.question}\nPreference: {wish}")
            texts.append(f"answer: {episode.task.answer}")
            for tool in episode.tools:
                texts += [tool.name, f" {describe(tool)}"]
        texts += [f"{space}{name}" for name in toolset.tools for space in ("", " ")] * 100
    return texts


def preamble(model: ModelConfig, texts: Sequence[str]) -> tuple[str, str]:
    """The fixed texts before and after the list of tools, read off the chat template."""
    plain = build_tokenizer(texts[:1000], preamble=(), vocab_size=300)
    renderer = Renderer(plain, template=builtin_template(), is_thinking=model.is_thinking)
    marker = {"type": "function", "function": {"name": "marker"}}
    text = renderer.text([{"role": "system", "content": model.system_prompt}], [marker])
    before, _, after = text.partition('{"type": "function", "function": {"name": "marker"}}')
    return before[before.index(model.system_prompt) :], after.partition(renderer.end_of_turn)[0]


def landmarks_of(speaker: Speaker, names: Iterable[str]) -> Landmarks:
    """What the written-in circuits go by, read off a prompt and a call with its thought.

    Every one of `names`, spoken or in a call, must be one token.
    """
    tokenizer = cast(PreTrainedTokenizerFast, speaker.tokenizer)
    first, second, *_ = speaker.renderer.prompt_ids([{"role": "system", "content": ""}])
    call = tokenizer.encode(thought_text(GUESS) + call_text("name"), add_special_tokens=False)
    (guess,) = tokenizer.encode(GUESS, add_special_tokens=False)
    (asked,) = tokenizer.encode(ASKED, add_special_tokens=False)
    (some_name, *_) = tokenizer.encode("name", add_special_tokens=False)
    texts = entries(tokenizer)
    ratings = {token: text for token, text in texts.items() if RATING.fullmatch(text)}
    ids = {text: token for token, text in texts.items()}
    spoken = {ids[f" {name}"]: ids[name] for name in names}
    return Landmarks(
        opening=(first, second),
        before_name=call[call.index(some_name) - 1],
        from_thought=call.index(some_name) - 1 - call.index(guess),
        before_thought=call[call.index(guess) - 1],
        asked=asked,
        spoken=spoken,
        phrases=ratings,
    )
