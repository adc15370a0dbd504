"""Descriptions of models, by the paper's three steps (section 3.1): sampled tasks, the model's own
answers to them, and another model that reads task, answer and outcome and writes what it is like.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolorchestra.provider.base import ChatModel
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.synthesis.ask import Reading, ask
from toolorchestra.synthesis.config import WriterConfig
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.types import Episode, Usage

OUTCOMES = {True: "right", False: "wrong", None: "could not be checked"}


class NoDescription(ValueError):
    """A model or the writer gave nothing to go by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempted:
    """One task as the model did it."""

    task_id: str
    skill: str
    question: str
    answer: str
    """The right one."""
    reply: str
    is_right: bool | None
    usage: Usage
    latency_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """A description and all that it rests on."""

    tool: str
    model: str
    """The model described, by its name in the pricing schedules."""
    description: str
    writer: str
    written_on: str
    """The day, as YYYY-MM-DD."""
    attempts: tuple[Attempted, ...]
    writer_usage: Usage


async def attempt_all(tool: Tool, episodes: Sequence[Episode]) -> tuple[Attempted, ...]:
    """The model's own answers, all asked for at once.

    Raises:
        NoDescription: It could not be asked.
    """
    return tuple(await asyncio.gather(*(_attempt(tool, episode) for episode in episodes)))


async def _attempt(tool: Tool, episode: Episode) -> Attempted:
    session = f"{episode.id}/describe"
    context = CallContext(episode=episode, call_id="0", call_number=0, session=session)
    result = await tool.call({}, context)
    await tool.close_session(session)
    if result.status == "provider_error":
        raise NoDescription(f"{result.name} gave no answer to {episode.id}: {result.content}")
    task = episode.task
    return Attempted(
        task_id=task.id,
        skill=task.skill,
        question=task.question,
        answer=task.answer,
        reply=result.content,
        is_right=judge_answer(task, result.content).is_solved,
        usage=result.usage,
        latency_s=result.latency_s,
    )


async def write_description(
    writer: ChatModel,
    config: WriterConfig,
    attempts: Sequence[Attempted],
    *,
    deadline_s: float,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[str, Usage]:
    """What the writer makes of the attempts; it is asked once more if it writes too much.

    Raises:
        ProviderFault: The writer could not be asked.
        NoDescription: It wrote nothing, or too much again.
    """

    def read(said: str) -> Reading[str]:
        text = " ".join(said.split())
        num_words = len(text.split())
        if 0 < num_words <= config.max_words:
            return Reading(value=text)
        tell(f"a description of {num_words} words, where up to {config.max_words} are allowed")
        return Reading(value=None, fault=f"Write it in 1 to {config.max_words} words.")

    asked = await ask(
        writer,
        config,
        account(attempts, config.max_reply_chars),
        read,
        deadline_s=deadline_s,
        num_repairs=1,
    )
    if asked.value is None:
        raise NoDescription(
            f"writer.max_words: {config.model} wrote nothing or more than {config.max_words} words "
            f"twice over; use more than {config.max_words}, or another writer"
        )
    return asked.value, asked.usage


def account(attempts: Sequence[Attempted], max_reply_chars: int) -> str:
    """Task, reply and outcome of every attempt, as the writer reads them."""
    return "\n\n".join(
        f"## Task {number} ({item.skill})\n{item.question}\n\n"
        f"### Its reply, which was {OUTCOMES[item.is_right]}\n{_shown(item.reply, max_reply_chars)}"
        f"\n\n### The right answer\n{item.answer}"
        for number, item in enumerate(attempts, start=1)
    )


def _shown(text: str, limit: int) -> str:
    """Beginning and end of a text: there stand what it sets out to do and what it comes to."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n(cut here)\n{text[-(limit - limit // 2) :]}"
