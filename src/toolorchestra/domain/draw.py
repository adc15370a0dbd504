"""Draws a domain's tasks: goals of one user, each alone and then several together.

A goal weighs 1 where one call does it and more where it takes a search, a sum or a chain of calls;
a task's difficulty is what its goals weigh together.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.script import Template, make_task
from toolorchestra.domain.task import DomainTask

_MAX_ATTEMPTS = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """One thing that a user may want."""

    template: Template
    weight: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Cast:
    """Those who may be the user of a task, and what they may want."""

    collection: str
    """Holds them."""
    goals: Sequence[Goal]
    introduce: Callable[[random.Random, Key, Record], tuple[str, str]]
    """Gives the greeting that begins the instruction, and the scenario of the simulated user."""
    num_alone: int
    """Tasks of each goal alone."""
    num_drawn: Mapping[int, int]
    """Tasks of goals that are drawn, by their difficulty."""


def draw_tasks(domain: Domain, casts: Sequence[Cast], rng: random.Random) -> Iterator[DomainTask]:
    """Tasks of rising difficulty; the same for the same records and the same state of `rng`."""
    weights = {goal.weight for cast in casts for goal in cast.goals}
    difficulties = sorted(weights.union(*(cast.num_drawn for cast in casts)))
    taken: set[str] = set()
    for difficulty in difficulties:
        for cast in casts:
            for goals in _choices(cast, difficulty):
                task = _draw_task(domain, cast, goals, difficulty, taken, rng)
                taken.add(_essence(task))
                yield replace(task, id=f"{domain.name}-{len(taken):03}")


def _choices(cast: Cast, difficulty: int) -> Iterator[Sequence[Goal] | None]:
    """What each task is made of: its one goal, or None where goals are to be drawn."""
    for goal in cast.goals:
        if goal.weight == difficulty:
            yield from [[goal]] * cast.num_alone
    yield from [None] * cast.num_drawn.get(difficulty, 0)


def _draw_task(
    domain: Domain,
    cast: Cast,
    goals: Sequence[Goal] | None,
    difficulty: int,
    taken: set[str],
    rng: random.Random,
) -> DomainTask:
    for _ in range(_MAX_ATTEMPTS):
        key, user = rng.choice(sorted(domain.database.records[cast.collection].items()))
        greeting, scenario = cast.introduce(rng, key, user)
        chosen = _draw_goals(cast.goals, difficulty, rng) if goals is None else goals
        if not chosen:
            continue
        task = make_task(
            domain,
            task_id="drawn",
            templates=[goal.template for goal in chosen],
            difficulty=difficulty,
            user=key,
            greeting=greeting,
            scenario=scenario,
            rng=rng,
        )
        if task is not None and _essence(task) not in taken:
            return task
    names = [goal.template.__name__ for goal in goals or cast.goals]
    raise AssertionError(f"nobody in {cast.collection} has goals of {names} at {difficulty}")


def _essence(task: DomainTask) -> str:
    """What no two tasks share, however they are worded."""
    return json.dumps([[[one.name, one.arguments] for one in task.actions], task.communicate])


def _draw_goals(goals: Sequence[Goal], difficulty: int, rng: random.Random) -> list[Goal]:
    """At least two different goals that weigh `difficulty` together; empty where the draw fails."""
    drawn: list[Goal] = []
    for goal in rng.sample(goals, difficulty):
        if sum(one.weight for one in drawn) < difficulty:
            drawn.append(goal)
    is_exact = sum(goal.weight for goal in drawn) == difficulty
    return drawn if is_exact and len(drawn) > 1 else []
