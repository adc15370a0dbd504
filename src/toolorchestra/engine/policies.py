"""Scripted policies that know nothing of what each tool is good at: the bars to clear.

All write the policy's own format, so that the same loop, prices and rewards apply to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from random import Random

from toolorchestra.types import Episode, OfferedTool, ToolResult, Turn

MAX_CALLS = 4

Choose = Callable[[Episode, Sequence[OfferedTool], Random], OfferedTool]


def call_text(*names: str) -> str:
    """A message that calls tools by name with their default arguments."""
    blocks = (
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': {}})}\n</tool_call>"
        for name in names
    )
    return "\n".join(blocks)


def thought_text(thought: str) -> str:
    """The thinking that a message begins with."""
    return f"<think>\n{thought}\n</think>\n\n"


def final_text(answer: str) -> str:
    """A message that ends the episode."""
    return f"answer: {answer}"


def results_of(turns: Sequence[Turn]) -> list[ToolResult]:
    """All results so far, in the order they came."""
    return [result for turn in turns for result in turn.results]


def answers_in(results: Iterable[ToolResult]) -> list[str]:
    """The answers among results, in order."""
    lines = (result.content.partition("\n")[0] for result in results if result.status == "ok")
    return [line.removeprefix("answer: ") for line in lines]


def nothing(episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
    """Answers at once, without a call: what this solves, nobody has to do anything for."""
    return final_text("nothing was done")


class FirstAnswer:
    """Calls the tool that `choose` picks among those not yet called until one answers."""

    def __init__(self, choose: Choose, *, max_calls: int = MAX_CALLS) -> None:
        self._choose, self._max_calls = choose, max_calls

    def __call__(self, episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
        """Returns the next message."""
        results = results_of(turns)
        answers = answers_in(results)
        if answers:
            return final_text(answers[-1])
        called = {result.name for result in results}
        left = [tool for tool in episode.tools if tool.name not in called]
        if not left or len(results) >= self._max_calls:
            return final_text("unknown")
        return call_text(self._choose(episode, left, rng).name)


def pick_random(episode: Episode, left: Sequence[OfferedTool], rng: Random) -> OfferedTool:
    """Any tool, all alike."""
    return rng.choice(left)


def pick_cheapest(episode: Episode, left: Sequence[OfferedTool], rng: Random) -> OfferedTool:
    """The tool whose typical call costs least; the faster one where two cost the same."""
    return min(left, key=lambda tool: (tool.call_cost_usd, tool.latency_s))


def pick_ablest(ability: dict[str, float]) -> Choose:
    """The tool with the highest `ability`, one number a tool whatever the task; others have 0."""

    def choose(episode: Episode, left: Sequence[OfferedTool], rng: Random) -> OfferedTool:
        return max(left, key=lambda tool: ability.get(tool.name, 0.0))

    return choose


ASKED, GUESS = "asked", "guess"
"""Reasons for a call: the user named the tool; none is known."""


def reason_for(episode: Episode, tool: OfferedTool) -> str:
    """What an honest thought can say for calling `tool`, all of it read off the prompt.

    That the user asked for it; else its rating for what the task takes, e.g. "math 5".
    """
    if tool.name in episode.preference.tools:
        return ASKED
    skill = episode.task.skill
    rating = re.search(rf"\b{re.escape(skill)} [1-5]\b", tool.description)
    return rating.group() if rating else GUESS


class RandomFormat:
    """Shows the format and nothing else: random calls, each with a true reason, then an answer.

    The tiny policy's warm start imitates it. Every choice is blind to task, tool, price and
    preference: the reason is found for the call, not the call for the reason. But each choice and
    each reason occurs often enough to be reinforced.
    """

    def __init__(self, *, another: float) -> None:
        """Calls again after an answer with probability `another`."""
        self._another = another

    def __call__(self, episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
        """Returns the next message."""
        results = results_of(turns)
        answers = answers_in(results)
        is_done = len(results) >= MAX_CALLS or answers and rng.random() >= self._another
        if is_done:
            return final_text(rng.choice(answers) if answers else "unknown")
        tool = rng.choice(episode.tools)
        return thought_text(reason_for(episode, tool)) + call_text(tool.name)
