"""A task in a domain: what the user wants, and what shows that it was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolorchestra.domain.database import Key

Party = Literal["policy", "user"]
"""Who calls a function: both have functions of their own, over the same records."""


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
    """Calls that solve the task, in an order that works."""
    communicate: tuple[str, ...] = ()
    """What has to be said to the user: numbers, dates or short texts, one thing each."""
    difficulty: int
    """From 1, the simplest."""
    changes: tuple[InitialChange, ...] = ()

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
