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
from toolorchestra.types import Episode, Json, ResultStatus, ToolResult, Usage


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
        status: ResultStatus = "ok"
        if luck < odds.right:
            content = f"answer: {task.answer}"
        elif luck < odds.right + odds.abstain:
            content, status = "no answer", "abstained"
        else:
            wrong = wrong_answer(context.episode, self._name, context.call_number)
            content = f"answer: {wrong}"
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=content,
            status=status,
            usage=Usage(
                input_tokens=self._config.typical_input_tokens(text),
                output_tokens=self._config.output_tokens,
                compute_s=self._config.compute_s,
            ),
            latency_s=self._config.latency_s,
            metadata={"simulated": True},
        )

    async def close_session(self, session: str) -> None:
        """Holds nothing."""

    async def close(self) -> None:
        """Holds nothing."""


def wrong_answer(episode: Episode, tool: str, call_number: int) -> str:
    """A wrong answer of the right answer's shape, unlike that of any other tool or call."""
    names = [offered.name for offered in episode.tools]
    wanted = call_number * len(names) + names.index(tool)
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
    """Replaces one digit by another or, where there is none, one or two letters by others.

    Letters beside digits stay: without its unit, 12 km is still 12. Two digits stay apart: 3/4 is
    6/8. End digits do not become 0: "07" and "7.0" are 7.
    """
    out = list(text)
    if places := [i for i, char in enumerate(text) if char in string.digits]:
        place = rng.choice(places)
        digits = string.digits[1:] if place in (places[0], places[-1]) else string.digits
        out[place] = rng.choice(digits.replace(text[place], ""))
        return "".join(out)
    places = [i for i, char in enumerate(text) if char in string.ascii_letters]
    if not places:
        return text + rng.choice(string.ascii_lowercase)
    for place in rng.sample(places, k=min(len(places), rng.choice((1, 2)))):
        is_upper = text[place] in string.ascii_uppercase
        letters = string.ascii_uppercase if is_upper else string.ascii_lowercase
        out[place] = rng.choice(letters.replace(text[place], ""))
    return "".join(out)
