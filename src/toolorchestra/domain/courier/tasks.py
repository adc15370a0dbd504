"""The parcel service's tasks: what its customers want, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from toolorchestra.domain.courier.goals import GOALS
from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.draw import Cast, draw_tasks
from toolorchestra.domain.task import DomainTask


def make_tasks(domain: Domain, rng: random.Random) -> Iterator[DomainTask]:
    """Tasks of rising difficulty; the same for the same records and the same state of `rng`."""
    customers = Cast(
        collection="customers",
        goals=GOALS,
        introduce=_introduce,
        num_alone=2,
        num_drawn={2: 6, 3: 10, 4: 12, 5: 16},
    )
    yield from draw_tasks(domain, [customers], rng)


def _introduce(rng: random.Random, key: Key, customer: Record) -> tuple[str, str]:
    name = customer["name"]
    number = f", customer {key}" if rng.random() < 0.5 else ""
    scenario = (
        f"You are {name}; your customer number is {key} and your e-mail address "
        f"{customer['email']}. You know no numbers of parcels, and you want what you ask for and "
        "nothing else."
    )
    return f"I am {name}{number}.", scenario
