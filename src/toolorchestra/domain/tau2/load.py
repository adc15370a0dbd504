"""Loading a domain of tau2-bench from the package."""

from __future__ import annotations

from functools import lru_cache

from toolorchestra.domain.tau2.domain import Edition, Tau2Domain
from toolorchestra.domain.tau2.function import read_tools
from toolorchestra.domain.tau2.names import PREFIX, TASK_SETS
from toolorchestra.domain.tau2.package import tau2_version
from toolorchestra.domain.tau2.task import read_task


@lru_cache(maxsize=len(TASK_SETS))
def load_tau2(name: str) -> Tau2Domain:
    """The domain of that name, e.g. "tau2/airline"; loaded once in a process.

    Raises:
        ValueError: there is none, the package is not there or another one, or a task cannot be
            played.
    """
    chosen = TASK_SETS.get(name.removeprefix(PREFIX))
    if chosen is None:
        known = ", ".join(PREFIX + task_set for task_set in TASK_SETS)
        raise ValueError(f"domain: {name!r} is not allowed; use {known}")
    version = tau2_version()
    # what follows needs pydantic, which comes with the package
    from toolorchestra.domain.tau2.world import load_tasks, load_world

    world, (tasks, sha256) = load_world(chosen.package), load_tasks(chosen)
    return Tau2Domain(
        name=name,
        functions=read_tools(world.first.get_tools()),
        user_functions=read_tools(world.first.get_user_tools() if world.first.user_tools else ()),
        policy=world.first.get_policy(),
        tasks={task.id: read_task(task) for task in tasks},
        edition=Edition(version=version, tasks_sha256=sha256),
        world=world,
        sources={task.id: task for task in tasks},
    )
