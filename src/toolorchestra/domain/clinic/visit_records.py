"""Appointments, the waiting list for them, and invoices."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.clinic.rules import (
    can_hold,
    clash,
    end_of,
    hours_problem,
    offers,
    starts_of,
)
from toolorchestra.domain.clinic.stock import COVERS, DAYS_AHEAD, TODAY
from toolorchestra.domain.database import Record
from toolorchestra.domain.record_maker import RecordMaker
from toolorchestra.domain.value import money, money_text

_NUM_DONE, _NUM_BOOKED, _NUM_WAITING = 90, 170, 80


def add_visits(clinic: RecordMaker) -> None:
    """Add visits that are done, and booked appointments that the rules allow."""
    rng = clinic.rng
    while clinic.count("appointments") < _NUM_DONE:
        day = TODAY - datetime.timedelta(days=rng.randint(1, 200))
        _add_visit(clinic, _draw_visit(clinic, day), "done")
    desk = clinic.records["desk"][0]
    doctors = {one["doctor_id"]: one for one in clinic.records["doctors"]}
    services = {one["service_id"]: one for one in clinic.records["services"]}
    while clinic.count("appointments") < _NUM_DONE + _NUM_BOOKED:
        # Every sixth is so soon that cancelling it costs a fee.
        days = rng.choice((0, 1)) if rng.random() < 1 / 6 else rng.randint(1, DAYS_AHEAD)
        day = TODAY + datetime.timedelta(days=days)
        visit = _draw_visit(clinic, day)
        doctor, service = doctors[visit["doctor"]], services[visit["service"]]
        is_free = clash(visit, clinic.records["appointments"]) is None
        if is_free and hours_problem(desk, doctor, service, day, visit["start"]) is None:
            _add_visit(clinic, visit, "booked")


def _draw_visit(clinic: RecordMaker, day: datetime.date) -> Record:
    """An appointment whose doctor offers the service and whose room has the equipment."""
    rng = clinic.rng
    service = rng.choice(clinic.records["services"])
    doctor = rng.choice([one for one in clinic.records["doctors"] if offers(one, service)])
    room = rng.choice([one for one in clinic.records["rooms"] if can_hold(one, service)])
    start = rng.choice(starts_of(doctor))
    return {
        "patient": clinic.draw("patients", "patient_id"),
        "doctor": doctor["doctor_id"],
        "service": service["service_id"],
        "room": room["room_id"],
        "day": str(day),
        "start": start,
        "end": end_of(service, start),
    }


def _add_visit(clinic: RecordMaker, visit: Record, status: str) -> None:
    key = f"A{clinic.count('appointments') + 1}"
    clinic.add("appointments", appointment_id=key, **visit, status=status)


def add_waiting(clinic: RecordMaker) -> None:
    """Let patients with late appointments wait for earlier ones, no two since the same day."""
    soon = str(TODAY + datetime.timedelta(days=5))
    booked = [one for one in clinic.records["appointments"] if one["status"] == "booked"]
    late = {(v["patient"], v["doctor"], v["service"]): v for v in booked if v["day"] > soon}
    chosen = clinic.rng.sample(list(late.values()), min(_NUM_WAITING, len(late)))
    for number, visit in enumerate(chosen, start=1):
        who = {name: visit[name] for name in ("patient", "doctor", "service")}
        since = str(TODAY - datetime.timedelta(days=number))
        clinic.add("waiting", waiting_id=f"W{number}", **who, since=since)


def add_invoices(clinic: RecordMaker) -> None:
    """Add an invoice for each visit that is done."""
    rng = clinic.rng
    services = {one["service_id"]: one for one in clinic.records["services"]}
    patients = {one["patient_id"]: one for one in clinic.records["patients"]}
    done = [one for one in clinic.records["appointments"] if one["status"] == "done"]
    for number, visit in enumerate(done, start=1):
        service, patient = services[visit["service"]], patients[visit["patient"]]
        amount = money(service["price"])
        covered = amount * COVERS[patient["cover"]] / 100
        rest = amount - covered
        part = (rest * rng.randint(1, 9) / 10).quantize(Decimal("0.01"))
        issued_on = datetime.date.fromisoformat(visit["day"])
        clinic.add(
            "invoices",
            invoice_id=f"I{number}",
            patient=visit["patient"],
            reason=service["name"],
            issued_on=visit["day"],
            due_on=str(issued_on + datetime.timedelta(days=30)),
            amount=money_text(amount),
            covered=money_text(covered),
            paid=money_text(rng.choice((Decimal(0), Decimal(0), part, rest))),
        )
