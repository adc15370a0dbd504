"""A domain's task as episodes carry it: plain data that names the domain and its task."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import DomainTask
from toolorchestra.types import Task

ANSWER_KIND = "domain"
"""Tasks of this kind are judged by what was done and said, never by a matcher."""

_DOMAIN, _TASK = "domain", "domain_task"


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """What a task of a domain asks for, and where."""

    domain: Domain
    task: DomainTask


def as_task(goal: Goal) -> Task:
    """The task for an episode: its skill is the domain, its question what the user says."""
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
        },
    )


def goal_of(task: Task) -> Goal | None:
    """The goal that `as_task` made `task` of; None where it belongs to no domain.

    Raises:
        ValueError: the domain, or its task, is not there.
    """
    if task.answer_kind != ANSWER_KIND:
        return None
    domain = load_shipped(str(task.metadata.get(_DOMAIN)))
    found = domain.tasks.get(str(task.metadata.get(_TASK)))
    if found is None:
        raise ValueError(
            f"task {task.id}: the domain {domain.name} has no task {task.metadata.get(_TASK)!r}; "
            "use the version of toolorchestra that wrote it"
        )
    return Goal(domain=domain, task=found)
