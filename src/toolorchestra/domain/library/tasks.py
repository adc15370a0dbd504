"""The library's tasks: one to five goals of one member, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.draw import Cast, Goal, draw_tasks
from toolorchestra.domain.library.goals import GOALS
from toolorchestra.domain.task import DomainTask


def make_tasks(domain: Domain, rng: random.Random) -> Iterator[DomainTask]:
    """Tasks of rising difficulty; the same for the same records and the same state of `rng`."""
    members = Cast(
        collection="members",
        goals=[Goal(template=template) for template in GOALS],
        introduce=_introduce,
        num_alone=2,
        num_drawn={2: 30, 3: 24, 4: 16, 5: 12},
    )
    yield from draw_tasks(domain, [members], rng)


def _introduce(rng: random.Random, key: Key, member: Record) -> tuple[str, str]:
    name = member["name"]
    number = f", member {key}" if rng.random() < 0.5 else ""
    scenario = (
        f"You are {name}; your member number is {key} and your e-mail address {member['email']}. "
        "You know no numbers of books or copies, and you want what you ask for and nothing else."
    )
    return f"I am {name}{number}.", scenario
