"""The work of both sides: golden actions of one shipped domain, here and in the sandbox."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.domain.one_file import copy_domain
from toolorchestra.domain.difference import digest
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.untrusted.load import load_untrusted


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """One domain twice."""

    trusted: Domain
    untrusted: Domain


def open_sides(name: str, folder: Path) -> Sides:
    """The shipped domain `name`, and a copy of it in a new folder, whose worker has started."""
    copy_domain(name, folder)
    return Sides(trusted=load_shipped(name), untrusted=load_untrusted(folder, has_tasks=False))


def calls_per_second(sides: Sides, domain: Domain, task_ids: Sequence[str]) -> float:
    """Replay the golden actions of some tasks, each in an environment of its own.

    Raises:
        RuntimeError: A replay leaves another database than in this process.
    """
    tasks = [sides.trusted.tasks[task_id] for task_id in task_ids]
    start_s = time.perf_counter()
    environments = [domain.replay_golden(task) for task in tasks]
    duration_s = time.perf_counter() - start_s
    for task, environment in zip(tasks, environments, strict=True):
        expected = sides.trusted.replay_golden(task).database
        if digest(environment.database) != digest(expected):
            raise RuntimeError(f"task {task.id} leaves another database in the sandbox")
    return sum(len(task.actions) for task in tasks) / duration_s
