"""The library's tasks: one to five goals of one member, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.library.goals import GOALS
from toolorchestra.domain.script import Template, make_task
from toolorchestra.domain.task import DomainTask

_PER_GOAL = 2
"""Tasks of each goal alone."""
_PER_DIFFICULTY = {2: 30, 3: 24, 4: 16, 5: 12}
_MAX_ATTEMPTS = 2000


def make_tasks(domain: Domain, rng: random.Random) -> Iterator[DomainTask]:
    """Tasks of rising difficulty; the same for the same records and the same state of `rng`."""
    for number, templates in enumerate(_draw_templates(), start=1):
        yield _make_one(domain, f"library-{number:03}", templates, rng)


def _draw_templates() -> Iterator[Sequence[Template] | int]:
    """What each task is made of: its one goal, or how many goals to draw."""
    for goal in GOALS:
        yield from [[goal]] * _PER_GOAL
    for difficulty, count in _PER_DIFFICULTY.items():
        yield from [difficulty] * count


def _make_one(
    domain: Domain, task_id: str, templates: Sequence[Template] | int, rng: random.Random
) -> DomainTask:
    for _ in range(_MAX_ATTEMPTS):
        key, member = rng.choice(sorted(domain.database.records["members"].items()))
        name = member["name"]
        number = f", member {key}" if rng.random() < 0.5 else ""
        task = make_task(
            domain,
            task_id=task_id,
            templates=rng.sample(GOALS, templates) if isinstance(templates, int) else templates,
            user=key,
            greeting=f"I am {name}{number}.",
            scenario=f"You are {name}; your member number is {key} and your e-mail address "
            f"{member['email']}. You know no numbers of books or copies, and you want what you "
            "ask for and nothing else.",
            rng=rng,
        )
        if task is not None:
            return task
    raise AssertionError(f"no member has the goals of {task_id}")
