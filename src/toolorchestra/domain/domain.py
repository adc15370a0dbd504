"""A domain as it was loaded: all that its tasks need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from toolorchestra.domain.check import database_problems
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.fault import BadDomain, DomainError
from toolorchestra.domain.function import TypedFunction
from toolorchestra.domain.task import Action, DomainTask, InitialChange


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The folder of a domain whose code nobody trusts, so that it runs in the sandbox."""

    folder: str
    """Absolute."""
    digest: str
    """Of its files as they were loaded."""
    options: Mapping[str, Any]
    """Of the sandbox, where they differ from `limits.LIMITS`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Domain:
    """Records, the functions over them, the rules for using these, and tasks."""

    greeting: ClassVar[str] = ""
    """A user is the first to speak, with words of the task's own."""
    stop_tokens: ClassVar[tuple[str, ...]] = ()
    """No word of a user's ends the conversation."""

    name: str
    database: Database
    functions: Mapping[str, TypedFunction]
    policy: str
    """Rules in Markdown that the policy model has to keep to."""
    tasks: Mapping[str, DomainTask]
    user_functions: Mapping[str, TypedFunction] = field(default_factory=dict)
    """Those that the user alone can call, e.g. to look into a letterbox."""
    origin: Origin | None = None
    """None where its code is trusted and runs in this process."""

    def begin(self, task: DomainTask) -> Environment:
        """A fresh environment in which `task` has not begun yet.

        Raises:
            BadDomain: an initial change of the task cannot be made.
        """
        database = self.database.fresh()
        for change in task.changes:
            _make_change(database, change)
        if task.changes:
            for _, problem in database_problems(database):
                raise BadDomain(f"task {task.id}: after its changes, {problem}")
        return Environment(database, self.functions, self.user_functions)

    def replay(self, task: DomainTask, actions: Iterable[Action]) -> Environment:
        """The environment after `actions`; those that fail change nothing, as in an episode."""
        environment = self.begin(task)
        for action in actions:
            environment.call(action.name, action.arguments, by=action.by)
        return environment

    def replay_golden(self, task: DomainTask) -> Environment:
        """The environment after the golden actions.

        Raises:
            BadDomain: one of them fails, which would otherwise fail alike on both sides of a
                comparison and go unseen.
        """
        environment = self.begin(task)
        for number, action in enumerate(task.actions, start=1):
            outcome = environment.call(action.name, action.arguments, by=action.by)
            if not outcome.is_ok:
                raise BadDomain(
                    f"task {task.id}: golden action {number}, {action.name}, fails: "
                    f"{outcome.content}"
                )
        return environment


def _make_change(database: Database, change: InitialChange) -> None:
    if change.collection not in database.schema.collections:
        known = ", ".join(database.schema.collections)
        raise BadDomain(f"changes: there is no collection {change.collection!r}; use {known}")
    try:
        if change.is_removed:
            database.remove(change.collection, change.key)
        elif database.has(change.collection, change.key):
            database.update(change.collection, change.key, **change.fields)
        else:
            name = database.schema.collections[change.collection].key
            record: Record = {**change.fields, name: change.key}
            database.add(change.collection, record)
    except DomainError as error:
        raise BadDomain(f"changes: {error}") from error
