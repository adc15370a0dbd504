"""A task in the making: golden actions are carried out as they are written.

So whatever a template has to know, such as a fine, is what the domain's functions say, and an
action that fails shows at once.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from toolorchestra.domain.communicate import unsaid
from toolorchestra.domain.database import Database
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.task import Action, DomainTask


class Script:
    """Golden actions, the sentences that ask for them, and what has to be said."""

    def __init__(self, domain: Domain, rng: random.Random) -> None:
        self.rng = rng
        self.actions: list[Action] = []
        self.sentences: list[str] = []
        self.communicate: list[str] = []
        self._environment = Environment(domain.database, domain.functions)

    @property
    def database(self) -> Database:
        """The records as the actions so far have left them; to be read only."""
        return self._environment.database

    def do(self, name: str, /, **arguments: Any) -> Any:
        """Carry out one golden action; gives its result."""
        outcome = self._environment.call(name, arguments)
        assert outcome.is_ok, f"golden action {name} {arguments} fails: {outcome.content}"
        self.actions.append(Action(name=name, arguments=arguments))
        return _read(outcome.content)

    def works(self, name: str, /, **arguments: Any) -> bool:
        """Whether such an action would succeed now; nothing is done."""
        return self._environment.branch().call(name, arguments).is_ok

    def would_give(self, name: str, /, **arguments: Any) -> Any:
        """What such an action, which would succeed, would give now; nothing is done."""
        outcome = self._environment.branch().call(name, arguments)
        assert outcome.is_ok, f"{name} {arguments} fails: {outcome.content}"
        return _read(outcome.content)

    def ask(self, sentence: str, *communicate: str) -> None:
        """Add what the user says, and what the user has to be told."""
        self.sentences.append(sentence)
        self.communicate += [text for text in communicate if text not in self.communicate]


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

    Returns:
        None where the user cannot have one of these goals, or something that has to be said is in
        the instruction already, so that repeating it would do.
    """
    script = Script(domain, rng)
    if not all(template(script, user) for template in templates):
        return None
    instruction = " ".join([greeting, *script.sentences])
    task = DomainTask(
        id=task_id,
        instruction=instruction,
        scenario=scenario,
        actions=tuple(script.actions),
        communicate=tuple(script.communicate),
        difficulty=difficulty,
    )
    is_given_away = len(unsaid(task.communicate, [instruction])) < len(task.communicate)
    return None if is_given_away else task
