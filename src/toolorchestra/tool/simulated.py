"""A simulated expert: a named stand-in for a model or service that cannot be reached offline.

Each call is right, abstains or is wrong with the odds of its profile. The outcome is a function of
(episode seed, tool, how often it was called) alone, so the rollouts of a group meet the same luck
and differ by their choices. Right answers agree; no two wrong answers ever do, so that agreement
is proof: this keeps the oracle of `toolorchestra.benchmark.oracle` exact.
"""

from __future__ import annotations

import string
from random import Random

from toolorchestra.tool.base import CallContext
from toolorchestra.tool.config import ToolConfig
from toolorchestra.types import Episode, Json, ToolResult, Usage

_CALLS_APART = 8
"""Wrong answers set aside for each tool; from then on it repeats itself."""
_ALIKE = (string.ascii_lowercase, string.ascii_uppercase, string.digits)


class SimulatedExpert:
    """Answers the episode's task by luck drawn from `config.profile`."""

    def __init__(self, name: str, config: ToolConfig) -> None:
        self._name, self._config = name, config

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Draws one answer; any question put to it is taken to be the task's."""
        task = context.episode.task
        text = next(iter(arguments.values()), None) or task.question
        odds = self._config.odds(task.skill)
        luck = Random(f"{context.episode.seed}/{self._name}/{context.call_number}").random()
        if luck < odds.right:
            content, status = f"answer: {task.answer}", "ok"
        elif luck < odds.right + odds.abstain:
            content, status = "no answer", "abstained"
        else:
            wrong = wrong_answer(context.episode, self._name, context.call_number)
            content, status = f"answer: {wrong}", "ok"
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=content,
            status="ok" if status == "ok" else "abstained",
            usage=Usage(
                input_tokens=self._config.typical_input_tokens(text),
                output_tokens=self._config.output_tokens,
            ),
            latency_s=self._config.latency_s,
            metadata={"simulated": True},
        )

    async def close(self) -> None:
        """Holds nothing."""


def wrong_answer(episode: Episode, tool: str, call_number: int) -> str:
    """A wrong answer of the right answer's shape, unlike that of any other tool or call."""
    position = [offered.name for offered in episode.tools].index(tool)
    wanted = position * _CALLS_APART + call_number % _CALLS_APART
    right = episode.task.answer
    rng = Random(f"{episode.seed}/wrong")
    seen = {right.casefold()}
    # never a 0, which changes nothing behind a decimal point
    more = string.digits[1:] if right[-1:].isdigit() else string.ascii_lowercase
    variant = right
    for _ in range(wanted + 1):
        variant = _vary(right, rng)
        while variant.casefold() in seen:  # short answers have few variants of their own length
            variant += rng.choice(more)
        seen.add(variant.casefold())
    return variant


def _vary(text: str, rng: Random) -> str:
    """Replaces one or two letters or digits by others of their kind; a first digit stays above 0."""
    places = [i for i, char in enumerate(text) if any(char in alike for alike in _ALIKE)]
    if not places:
        return text + rng.choice(string.ascii_lowercase)
    out = list(text)
    for place in rng.sample(places, k=min(len(places), rng.choice((1, 2)))):
        alike = next(alike for alike in _ALIKE if out[place] in alike)
        # neither a leading nor a trailing digit may become 0: "07" and "7.0" are 7
        is_end = alike is string.digits and place in (places[0], places[-1])
        out[place] = rng.choice(alike[1:] if is_end else alike)
    return "".join(out)
