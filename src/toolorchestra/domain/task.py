"""A task in a domain: what the user wants, and what shows that it was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolorchestra.domain.database import Key

Party = Literal["policy", "user"]
"""Who calls a function: both have functions of their own, over the same records."""

RESULT = "{result}"
"""Stands in what a scripted user says for what the user's last call gave."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """One call of a domain's function."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    by: Party = "policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class UserStep:
    """What a scripted user does next, once the policy has said what calls for it."""

    say: str
    """With `{result}` where what the last call of `actions` gave is to stand."""
    cues: tuple[str, ...] = ()
    """Words of which the policy's message has to hold one, in any case of letters; none: any
    message will do."""
    actions: tuple[Action, ...] = ()
    """Calls of the user's own functions, made before it speaks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InitialChange:
    """How one record differs from the domain's database when the task begins."""

    collection: str
    key: Key
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Set in the record; a record that is not there yet is made of them and of the key."""
    is_removed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DomainTask:
    """A goal with golden actions; there may be other ways to it."""

    id: str
    instruction: str
    """What the user asks for, complete enough to act on without asking back."""
    scenario: str = ""
    """For a simulated user: what else the user knows, wants and would accept."""
    steps: tuple[UserStep, ...] = ()
    """For a scripted user: the first begins the conversation, each further one answers a message of
    the policy's; together they say no less than `instruction`."""
    actions: tuple[Action, ...] = ()
    """Calls that solve the task, in an order that works; those of the user too, where it has to do
    something: that it does is what the policy is answerable for."""
    communicate: tuple[str, ...] = ()
    """What has to be said to the user: numbers, dates or short texts, one thing each."""
    difficulty: int
    """From 1, the simplest."""
    changes: tuple[InitialChange, ...] = ()

    @property
    def needs_user(self) -> bool:
        """Whether the user has to act, so that without one nobody can solve it."""
        return any(action.by == "user" for action in self.actions)

    def __post_init__(self) -> None:
        if not self.id or not self.instruction.strip():
            raise ValueError("a task needs an id and an instruction")
        if not self.actions and not self.communicate:
            raise ValueError(
                "doing nothing would solve it: it has neither actions nor anything to communicate"
            )
        if self.difficulty < 1:
            raise ValueError(f"difficulty {self.difficulty} is not allowed; use 1 or more")
        for text in self.communicate:
            if not any(character.isalnum() for character in text):
                raise ValueError(f"communicate {text!r} says nothing that could be looked for")
        for number, step in enumerate(self.steps, start=1):
            _check_step(number, step)
        if self.steps:
            _check_order(self.steps, self.actions)


def _check_step(number: int, step: UserStep) -> None:
    if not step.say.strip():
        raise ValueError(f"step {number}: it says nothing")
    if number == 1 and step.cues:
        raise ValueError("step 1: cues are not allowed, for it begins the conversation")
    if RESULT in step.say and not step.actions:
        raise ValueError(f"step {number}: {RESULT} is not allowed without an action that gives one")


def _check_order(steps: Sequence[UserStep], actions: Sequence[Action]) -> None:
    """Checks that a conversation with this script can go through the golden actions in order: the
    user does all of a step in one go, and what belongs to the first step before anything else."""
    rest = list(actions)
    for number, step in enumerate(steps, start=1):
        while number > 1 and step.actions and rest and rest[0].by == "policy":
            rest.pop(0)
        for action in step.actions:
            if not rest or rest[0] != action:
                then = f"{rest[0].name} of the {rest[0].by}" if rest else "nothing"
                raise ValueError(
                    f"step {number}: the user calls {action.name} where the golden actions have "
                    f"{then}; use the same calls with the same arguments, in the same order"
                )
            rest.pop(0)
    for action in rest:
        if action.by == "user":
            raise ValueError(f"steps: the golden action {action.name} of the user is in none")
