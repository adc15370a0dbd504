"""A domain's task as episodes carry it: plain data that names the domain and its task.

A domain that does not ship with the project is named with its folder and what lay there.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.codec import from_json, to_json
from toolorchestra.domain.catalogue import load_origin
from toolorchestra.domain.domain import Domain, Origin
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import DomainTask
from toolorchestra.types import Task

ANSWER_KIND = "domain"
"""Tasks of this kind are judged by what was done and said, never by a matcher."""

_DOMAIN, _TASK, _ORIGIN = "domain", "domain_task", "domain_origin"


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """What a task of a domain asks for, and where."""

    domain: Domain
    task: DomainTask


def as_task(goal: Goal) -> Task:
    """The task for an episode: its skill is the domain, its question what the user says."""
    origin = goal.domain.origin
    return Task(
        id=goal.task.id,
        skill=goal.domain.name,
        question=goal.task.instruction,
        answer="; ".join(goal.task.communicate),
        answer_kind=ANSWER_KIND,
        metadata={
            _DOMAIN: goal.domain.name,
            _TASK: goal.task.id,
            "difficulty": goal.task.difficulty,
        }
        | ({} if origin is None else {_ORIGIN: to_json(origin)}),
    )


def goal_of(task: Task) -> Goal | None:
    """The goal that `as_task` made `task` of; None where it belongs to no domain.

    Raises:
        ValueError: the domain, or its task, is not there, or the domain's folder has changed since.
    """
    if task.answer_kind != ANSWER_KIND:
        return None
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
