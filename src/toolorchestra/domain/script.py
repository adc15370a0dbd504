"""A task in the making: golden actions are carried out as they are written.

So whatever a template has to know, such as a fine, is what the domain's functions say, and an
action that fails shows at once.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from toolorchestra.domain.communicate import unsaid
from toolorchestra.domain.database import Database, Key, Record
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.task import RESULT, Action, DomainTask, UserStep


class Script:
    """Golden actions of both parties, what the user says when, and what the user has to be told."""

    def __init__(self, domain: Domain, rng: random.Random) -> None:
        self.rng = rng
        self.actions: list[Action] = []
        self.steps: list[UserStep] = []
        self.sentences: list[str] = []
        self.answers: list[str] = []
        """What the user says beside `sentences`, with the results filled in."""
        self.communicate: list[str] = []
        self.knowledge: list[str] = []
        self._done: list[Action] = []
        self._result = ""
        self._environment = Environment(domain.database, domain.functions, domain.user_functions)

    @property
    def database(self) -> Database:
        """The records as the actions so far have left them; to be read only."""
        return self._environment.database

    def record(self, collection: str, key: Key) -> Record:
        """One record, to be read only."""
        return self.database.records[collection][key]

    def every(self, collection: str) -> list[Record]:
        """All records of a collection, to be read only."""
        return list(self.database.records[collection].values())

    def do(self, name: str, /, **arguments: Any) -> Any:
        """Carry out one golden action of the policy; gives its result."""
        return _read(self._carry_out(Action(name=name, arguments=arguments)))

    def user_does(self, name: str, /, **arguments: Any) -> Any:
        """Carry out one golden action of the user, before the next `answer`; gives its result."""
        action = Action(name=name, arguments=arguments, by="user")
        self._result = self._carry_out(action)
        self._done.append(action)
        return _read(self._result)

    def _carry_out(self, action: Action) -> str:
        outcome = self._environment.call(action.name, action.arguments, by=action.by)
        assert outcome.is_ok, f"golden action {action} fails: {outcome.content}"
        self.actions.append(action)
        return outcome.content

    def works(self, name: str, /, **arguments: Any) -> bool:
        """Whether such an action of the policy would succeed now; nothing is done."""
        return self._environment.branch().call(name, arguments).is_ok

    def would_give(self, name: str, /, **arguments: Any) -> Any:
        """What such an action, which would succeed, would give now; nothing is done."""
        outcome = self._environment.branch().call(name, arguments)
        assert outcome.is_ok, f"{name} {arguments} fails: {outcome.content}"
        return _read(outcome.content)

    def ask(self, sentence: str, *communicate: str) -> None:
        """Add what the user says to begin with a goal, and what the user has to be told."""
        assert not self._done, "what the user does belongs to an answer"
        self.sentences.append(sentence)
        self.steps.append(UserStep(say=sentence))
        self.hear(*communicate)

    def hear(self, *communicate: str) -> None:
        """Add what the user has to be told."""
        self.communicate = list(dict.fromkeys([*self.communicate, *communicate]))

    def know(self, sentence: str) -> None:
        """Add what a simulated user has to know to play its part."""
        self.knowledge.append(sentence)

    def answer(self, say: str, *cues: str) -> None:
        """Add what the user says after `user_does`, once the policy's message holds a cue."""
        self.steps.append(UserStep(say=say, cues=cues, actions=tuple(self._done)))
        self.answers.append(say.replace(RESULT, self._result))
        self._done.clear()


def _read(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:  # a plain text
        return content


Template = Callable[[Script, str], bool]
"""Adds one goal of the user with the given key to a script; False where that user has no such goal,
and then the script is as it was."""


def make_task(
    domain: Domain,
    *,
    task_id: str,
    templates: Sequence[Template],
    difficulty: int,
    user: str,
    greeting: str,
    scenario: str,
    rng: random.Random,
) -> DomainTask | None:
    """A task in which one user has the goals of all `templates`, in this order.

    A scripted user gives the goals one after another; what has to be done for a goal is done before
    the next one is given.

    Returns:
        None where the user cannot have one of these goals, or the user says something already that
        the user has to be told, so that repeating it would do.
    """
    script = Script(domain, rng)
    if not all(template(script, user) for template in templates):
        return None
    instruction = " ".join([greeting, *script.sentences])
    first, *further = script.steps
    task = DomainTask(
        id=task_id,
        instruction=instruction,
        scenario=" ".join([scenario, *script.knowledge]),
        steps=(replace(first, say=f"{greeting} {first.say}"), *further),
        actions=tuple(script.actions),
        communicate=tuple(script.communicate),
        difficulty=difficulty,
    )
    said = [instruction, *script.answers]
    is_given_away = len(unsaid(task.communicate, said)) < len(task.communicate)
    return None if is_given_away else task
