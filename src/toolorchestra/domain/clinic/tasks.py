"""The clinic's tasks: what patients and doctors want, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from toolorchestra.domain.clinic.goals import DOCTOR_GOALS, PATIENT_GOALS
from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.draw import Cast, draw_tasks
from toolorchestra.domain.task import DomainTask

_KNOWS = "You know no other numbers than these, and you want what you ask for and nothing else."


def make_tasks(domain: Domain, rng: random.Random) -> Iterator[DomainTask]:
    """Tasks of rising difficulty; the same for the same records and the same state of `rng`."""
    patients = Cast(
        collection="patients",
        goals=PATIENT_GOALS,
        introduce=_introduce_patient,
        num_alone=2,
        num_drawn={2: 8, 3: 12, 4: 14, 5: 14},
    )
    doctors = Cast(
        collection="doctors",
        goals=DOCTOR_GOALS,
        introduce=_introduce_doctor,
        num_alone=3,
        num_drawn={3: 4, 4: 4},
    )
    yield from draw_tasks(domain, [patients, doctors], rng)


def _introduce_patient(rng: random.Random, key: Key, patient: Record) -> tuple[str, str]:
    name = patient["name"]
    number = f", patient {key}" if rng.random() < 0.5 else ""
    scenario = f"You are {name}, born on {patient['born_on']}; your patient number is {key}."
    return f"I am {name}{number}.", f"{scenario} {_KNOWS}"


def _introduce_doctor(rng: random.Random, key: Key, doctor: Record) -> tuple[str, str]:
    name = doctor["name"]
    number = f", {key} in your lists" if rng.random() < 0.5 else ""
    scenario = f"You are Dr {name} of this clinic; your number is {key}."
    return f"This is Dr {name}{number}.", f"{scenario} {_KNOWS}"
