"""Which tasks can be solved: the last stage. A model tries each, again and again (pass@k).

It plays by JSON turns on an environment of its own, with the rules and the functions that a policy
has, and is judged as a policy is.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.fault import BadDomain, DomainBug
from toolorchestra.domain.task import DomainTask
from toolorchestra.domain.verify import verify_database
from toolorchestra.provider.base import Message
from toolorchestra.synthesis.ask import NUM_REPAIRS, Asked, Reading, go_on, record_of
from toolorchestra.synthesis.domain.catalogue import catalogue
from toolorchestra.synthesis.domain.functions import arguments_of
from toolorchestra.synthesis.domain.rejection import Rejection
from toolorchestra.synthesis.domain.workshop import Asker, NothingUsable, Workshop
from toolorchestra.synthesis.json_form import TEXT, YES_NO, list_of, object_of
from toolorchestra.synthesis.listed import AGAIN

log = logging.getLogger(__name__)

STAGE = "solving"
SYSTEM = """
You serve a user with the functions of a domain, and keep to its rules. In each turn you may call
functions, whose results you then see, and say something to the user, who does not answer: never
ask back. Do what the user wants and no more, look up what you do not know, and tell the user the
figures, dates and names that were asked for. Once all is done and said, is_done is true. Reply with
JSON alone: {"calls": [{"name": "...", "arguments": "{...}"}], "say": "...", "is_done": false}, with
the arguments as a JSON object in a text; say may be empty.
"""
_MAX_RESULT_CHARS = 8000
_MAX_CALLS = 20


def turn_schema(functions: list[str]) -> dict[str, Any]:
    """The schema of a turn."""
    call = object_of({"name": {"type": "string", "enum": functions}, "arguments": TEXT})
    return object_of({"calls": list_of(call), "say": TEXT, "is_done": YES_NO})


@dataclass(frozen=True, kw_only=True, slots=True)
class _CallForm:
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _TurnForm:
    calls: tuple[_CallForm, ...]
    say: str
    is_done: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What the solver does at once."""

    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    say: str
    is_done: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One try at a task: a line of the record."""

    task: str
    number: int
    """From 1."""
    is_solved: bool
    num_turns: int
    num_calls: int
    why: str
    """The verdict, or how the attempt ended without one."""


def read(said: str) -> Reading[Turn]:
    """The turn of a reply."""
    try:
        form = record_of(_TurnForm, said)
        if len(form.calls) > _MAX_CALLS:
            raise ValueError(f"calls: {len(form.calls)} at once; use up to {_MAX_CALLS}")
        calls = tuple(
            (one.name, arguments_of(one.arguments, f"calls[{index}].arguments"))
            for index, one in enumerate(form.calls)
        )
    except ValueError as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")
    return Reading(value=Turn(calls=calls, say=form.say, is_done=form.is_done))


@dataclass(kw_only=True, slots=True)
class _Game:
    """An attempt under way."""

    environment: Environment
    said: list[str] = field(default_factory=list)
    num_turns: int = 0
    num_calls: int = 0


async def attempt(
    solver: Asker, domain: Domain, task: DomainTask, *, number: int, max_turns: int
) -> Attempt:
    """One try at a task.

    Raises:
        ProviderFault: The model could not be asked.
    """
    game, is_solved = _Game(environment=domain.begin(task)), False
    try:
        why = await _play(game, solver, domain, task, max_turns)
        if not why:
            verdict = await asyncio.to_thread(
                verify_database, domain, task, game.environment.database, messages=game.said
            )
            why, is_solved = str(verdict), verdict.is_solved
    except (BadDomain, DomainBug) as fault:  # the first: a golden action fails after all
        why = f"broken function: {fault}"
    return Attempt(
        task=task.id,
        number=number,
        is_solved=is_solved,
        num_turns=game.num_turns,
        num_calls=game.num_calls,
        why=why,
    )


async def _play(
    game: _Game, solver: Asker, domain: Domain, task: DomainTask, max_turns: int
) -> str:
    """Plays until the solver is done; says why it never was."""
    messages = [
        Message(role="system", content=f"{SYSTEM.strip()}\n\n{catalogue(domain)}"),
        Message(role="user", content=task.instruction),
    ]
    while game.num_turns < max_turns:
        asked = await _next(solver, domain, messages)
        game.num_turns += 1
        turn = asked.value
        if turn is None:
            return f"no usable reply: {asked.fault}"
        game.said += [turn.say] if turn.say.strip() else []
        game.num_calls += len(turn.calls)
        results = await asyncio.to_thread(_carry_out, game.environment, turn)
        if turn.is_done:
            return ""
        messages += [
            Message(role="assistant", content=asked.said),
            Message(role="user", content=results or "Go on."),
        ]
    return f"not done after {max_turns} turns"


async def _next(solver: Asker, domain: Domain, messages: list[Message]) -> Asked[Turn]:
    return await go_on(
        solver.model,
        solver.config.limits,
        messages,
        read,
        deadline_s=solver.deadline_s,
        num_repairs=NUM_REPAIRS,
        json_schema=turn_schema(list(domain.functions)),
    )


def _carry_out(environment: Environment, turn: Turn) -> str:
    """The results of a turn's calls, as the solver reads them."""
    lines = []
    for name, arguments in turn.calls:
        outcome = environment.call(name, arguments)
        word = "gives" if outcome.is_ok else "fails"
        shown = json.dumps(outcome.content[:_MAX_RESULT_CHARS], ensure_ascii=False)
        lines.append(f"{name} {word}: {shown}")
    return "\n".join(lines)


async def solve(shop: Workshop, domain: Domain, tasks: list[DomainTask]) -> list[DomainTask]:
    """The tasks that were solved.

    Raises:
        NothingUsable: There are none.
    """
    tried = await shop.all(STAGE, [partial(_try, shop, domain, task) for task in tasks])
    solved = [task for task, tries in zip(tasks, tried, strict=True) if tries[-1].is_solved]
    rejections = [
        Rejection(
            stage=STAGE,
            place=task.id,
            kind="unsolved",
            reason=f"not solved in {len(tries)} attempts; the last: {tries[-1].why}",
            said=task.instruction,
        )
        for task, tries in zip(tasks, tried, strict=True)
        if not tries[-1].is_solved
    ]
    shop.journal.note("attempts", [one for tries in tried for one in tries])
    shop.journal.close(STAGE, solved, rejections)
    if not solved:
        raise NothingUsable(
            f"solving: none of {len(tasks)} tasks was solved; use another solver.model or "
            "writer.model, with another out (attempts.jsonl says why)"
        )
    return solved


async def _try(shop: Workshop, domain: Domain, task: DomainTask) -> list[Attempt]:
    tries = list[Attempt]()
    for number in range(1, shop.solver.attempts + 1):
        solver = shop.solver_at(number)
        tries.append(
            await attempt(solver, domain, task, number=number, max_turns=shop.solver.max_turns)
        )
        if tries[-1].is_solved:
            break
    word = "solved" if tries[-1].is_solved else "not solved"
    log.info("%s: %s in %d of %d attempts", task.id, word, len(tries), shop.solver.attempts)
    return tries
