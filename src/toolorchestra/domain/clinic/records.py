"""The clinic's records, invented from a seed."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

from toolorchestra.domain.clinic.stock import (
    COVERS,
    DAYS_AHEAD,
    HOURS,
    NOW,
    ROOMS,
    SERVICES,
    SPECIALTIES,
    SUBSTANCES,
    TODAY,
    WEEKDAYS,
)
from toolorchestra.domain.clinic.visit_records import add_invoices, add_visits, add_waiting
from toolorchestra.domain.database import Record
from toolorchestra.domain.names import name_maker
from toolorchestra.domain.record_maker import RecordMaker

_NUM_PATIENTS, _NUM_MEDICINES = 60, 18


def make_records(rng: random.Random) -> Iterator[tuple[str, Record]]:
    """All records, each with its collection; the same for the same state of `rng`."""
    clinic = RecordMaker(rng=rng, make_name=name_maker(rng))
    _add_rules(clinic)
    _add_doctors(clinic)
    _add_patients(clinic)
    add_visits(clinic)
    add_waiting(clinic)
    _add_prescriptions(clinic)
    add_invoices(clinic)
    yield from clinic.lines()


def _add_rules(clinic: RecordMaker) -> None:
    clinic.add(
        "desk",
        desk_id="main",
        today=str(TODAY),
        time=NOW,
        days_ahead=DAYS_AHEAD,
        notice_hours=24,
        late_fee="27.50",
        max_overdue="40.00",
        visit_days=120,
        valid_days=90,
    )
    for name, percent in COVERS.items():
        clinic.add("covers", cover_id=name, percent=percent)
    for number, (name, minutes, price, specialty, equipment) in enumerate(SERVICES, start=1):
        service: Record = {"name": name, "minutes": minutes, "price": price}
        if specialty is not None:
            service["specialty"] = specialty
        clinic.add("services", service_id=f"S{number:02}", **service, equipment=equipment)
    for number, equipment in enumerate(ROOMS, start=1):
        clinic.add("rooms", room_id=f"R{number}", floor=1 + number // 4, equipment=equipment)


def _add_doctors(clinic: RecordMaker) -> None:
    rng = clinic.rng
    for number, specialties in enumerate(SPECIALTIES, start=1):
        opens, closes = rng.choice(HOURS)
        leave = TODAY + datetime.timedelta(days=rng.randint(1, DAYS_AHEAD))
        clinic.add(
            "doctors",
            doctor_id=f"D{number:02}",
            name=f"{clinic.make_name()} {clinic.make_name()}",
            specialties=specialties,
            weekdays=[day for day in WEEKDAYS if day != rng.choice(WEEKDAYS)],
            opens=opens,
            closes=closes,
            leave=[str(leave)],
        )
    for number in range(1, _NUM_MEDICINES + 1):
        clinic.add(
            "medicines",
            medicine_id=f"X{number:02}",
            name=f"{clinic.make_name()}in",
            substances=rng.sample(SUBSTANCES, rng.randint(1, 3)),
        )


def _add_patients(clinic: RecordMaker) -> None:
    rng = clinic.rng
    for number in range(1, _NUM_PATIENTS + 1):
        person = clinic.person()
        born_on = datetime.date(1950, 1, 1) + datetime.timedelta(days=rng.randint(0, 25_000))
        clinic.add(
            "patients",
            patient_id=f"P{number:03}",
            **person,
            phone=f"0{rng.randint(200, 999)} {rng.randint(100_000, 999_999)}",
            born_on=str(born_on),
            cover=rng.choice(list(COVERS)),
            allergies=rng.sample(SUBSTANCES, rng.randint(0, 2)),
            preferred_doctors=clinic.draw_some("doctors", "doctor_id", 2, 4),
        )


def _add_prescriptions(clinic: RecordMaker) -> None:
    rng = clinic.rng
    for patient in clinic.records["patients"]:
        seen_by = [
            visit["doctor"]
            for visit in clinic.records["appointments"]
            if visit["patient"] == patient["patient_id"] and visit["status"] == "done"
        ]
        for medicine in clinic.draw_some("medicines", "medicine_id", 1, 3):
            writer = clinic.draw("doctors", "doctor_id")
            clinic.add(
                "prescriptions",
                prescription_id=f"Q{clinic.count('prescriptions') + 1:03}",
                patient=patient["patient_id"],
                doctor=rng.choice(seen_by) if seen_by and rng.random() < 0.7 else writer,
                medicine=medicine,
                renewals_left=rng.choice((0, 1, 2, 3)),
                valid_until=str(TODAY + datetime.timedelta(days=rng.randint(-10, 60))),
                status="stopped" if rng.random() < 0.1 else "active",
            )
