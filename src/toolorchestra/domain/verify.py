"""Whether a rollout solves a domain task, by the paper's three criteria.

1. Execution correctness: the database means the same as after the golden actions.
2. Process fidelity: all that had to be communicated was said to the user.
3. Operation completeness: the records that the golden actions operated on were operated on. Equal
   databases do not show that where a write changes nothing or is undone.

A record that the golden actions wrote must be written. One that they only looked up by its key must
be come upon somehow, by key or in a search: there is more than one way to learn a thing.

Where the user has functions too, the golden actions include the user's, and what either of them
wrote or came upon counts. Still the policy alone is judged: the user does its part only when asked
for it, so a record that only the user can write is written where the policy got the user to do it.
A policy that calls a function of the user meets a refusal, as for any tool that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolorchestra.domain.communicate import unsaid
from toolorchestra.domain.database import Database, Place
from toolorchestra.domain.difference import Change, difference
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.task import Action, DomainTask


@dataclass(frozen=True, kw_only=True, slots=True)
class DomainVerdict:
    """What a rollout did of what it had to do."""

    changes: tuple[Change, ...]
    """What the database says otherwise than after the golden actions."""
    unsaid: tuple[str, ...]
    """What had to be communicated and was not."""
    unwritten: tuple[Place, ...]
    """Records that the golden actions of either party wrote and the rollout did not."""
    unread: tuple[Place, ...]
    """Records that the golden actions of either party looked up and nobody in the rollout came
    upon."""

    @property
    def is_execution_correct(self) -> bool:
        """Criterion 1."""
        return not self.changes

    @property
    def is_process_faithful(self) -> bool:
        """Criterion 2."""
        return not self.unsaid

    @property
    def is_operation_complete(self) -> bool:
        """Criterion 3."""
        return not self.unwritten and not self.unread

    @property
    def is_solved(self) -> bool:
        """All three."""
        return self.is_execution_correct and self.is_process_faithful and self.is_operation_complete

    def __str__(self) -> str:
        lines = [f"database: {change}" for change in self.changes]
        lines += [f"not said: {text}" for text in self.unsaid]
        lines += [f"not written: {collection} {key}" for collection, key in self.unwritten]
        lines += [f"not looked up: {collection} {key}" for collection, key in self.unread]
        return "\n".join(["solved" if self.is_solved else "not solved", *lines])


def verify(
    domain: Domain, task: DomainTask, *, actions: Iterable[Action], messages: Sequence[str]
) -> DomainVerdict:
    """Judge a rollout by the calls that it made.

    Args:
        domain: Where the task belongs.
        task: What had to be done.
        actions: All calls of the rollout in order, each by who made it, those that failed and those
            of tools that do not exist too.
        messages: What the policy said to the user, without thoughts and tool results.

    Raises:
        DomainBug: a function of the domain is broken, so the rollout cannot be judged.
    """
    return verify_database(domain, task, domain.replay(task, actions).database, messages=messages)


def verify_database(
    domain: Domain, task: DomainTask, actual: Database, *, messages: Sequence[str]
) -> DomainVerdict:
    """Judge a rollout by the database that it left in the environment that it had."""
    expected = domain.replay_golden(task).database
    start = domain.begin(task).database
    touched = actual.written | actual.read | actual.seen
    return DomainVerdict(
        changes=difference(expected, actual),
        unsaid=unsaid(task.communicate, messages),
        unwritten=_missing(expected.written, actual.written, start),
        unread=_missing(expected.read - expected.written, touched, start),
    )


def _missing(expected: set[Place], actual: set[Place], start: Database) -> tuple[Place, ...]:
    """What of `expected` is not in `actual`, but for new records whose key is generated: those may
    have another key here, and that they exist is the first criterion's business."""
    return tuple(
        (name, key)
        for name, key in sorted(expected - actual)
        if not start.schema.collections[name].has_volatile_key or start.has(name, key)
    )
