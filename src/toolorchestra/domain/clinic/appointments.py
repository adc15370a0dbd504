"""Booking, moving and cancelling appointments."""

from __future__ import annotations

import datetime
from typing import Any, Literal

from toolorchestra.domain.clinic.rules import can_hold, clash, end_of, hours_problem, starts_of
from toolorchestra.domain.clinic.steps import (
    check_overdue,
    check_visit,
    desk,
    end_waiting,
    is_short_notice,
    today,
)
from toolorchestra.domain.clinic.times import is_time
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.new_key import new_key

_PAYMENT_DAYS = 30


def find_slots(
    db: Database, patient_id: str, doctor_id: str, service_id: str, day: datetime.date
) -> list[dict[str, Any]]:
    """Find the times of a day at which a patient, a doctor and a room are free for a service.

    Args:
        patient_id: Who is to be seen.
        doctor_id: By whom.
        service_id: What for.
        day: The day.
    """
    doctor, service = one(db, "doctors", doctor_id), one(db, "services", service_id)
    one(db, "patients", patient_id)
    rooms = [room["room_id"] for room in db.where("rooms") if can_hold(room, service)]
    booked = db.where("appointments", day=str(day), status="booked")
    slots, rules = [], desk(db)
    for start in starts_of(doctor):
        if hours_problem(rules, doctor, service, day, start):
            continue
        visit = {"patient": patient_id, "doctor": doctor_id, "day": str(day), "start": start}
        visit["end"] = end_of(service, start)
        free = [room for room in rooms if not clash({**visit, "room": room}, booked)]
        if free:
            slots.append({"start": start, "rooms": free})
    return slots


def book_appointment(
    db: Database,
    patient_id: str,
    doctor_id: str,
    service_id: str,
    day: datetime.date,
    start: str,
    room_id: str,
) -> Record:
    """Book an appointment.

    Args:
        patient_id: Who is to be seen.
        doctor_id: By whom.
        service_id: What for.
        day: The day.
        start: When it begins, on the half hour, e.g. 09:30.
        room_id: Where.
    """
    db.get("patients", patient_id)
    check_overdue(db, patient_id)
    service = one(db, "services", service_id)
    visit = {
        "appointment_id": new_key(db, "appointments", "A"),
        "patient": patient_id,
        "doctor": doctor_id,
        "service": service_id,
        "room": room_id,
        "day": str(day),
        "start": start,
        "end": end_of(service, start) if is_time(start) else start,
        "status": "booked",
    }
    check_visit(db, visit)
    db.add("appointments", visit)
    return visit


def move_appointment(
    db: Database,
    appointment_id: str,
    day: datetime.date,
    start: str,
    room_id: str,
    asked_by: Literal["patient", "doctor"],
    doctor_id: str | None = None,
) -> Record:
    """Move an appointment to another time or room, or hand it to another doctor.

    Args:
        appointment_id: Which.
        day: The new day.
        start: When it begins, on the half hour, e.g. 09:30.
        room_id: Where.
        asked_by: Who wants it moved.
        doctor_id: The new doctor; left out where the doctor stays.
    """
    old = _booked(db, appointment_id)
    if asked_by == "patient" and is_short_notice(db, old):
        hours = desk(db)["notice_hours"]
        raise DomainError(f"the appointment is less than {hours} hours away: it is only cancelled")
    service = one(db, "services", old["service"])
    changes = {
        "day": str(day),
        "start": start,
        "end": end_of(service, start) if is_time(start) else start,
        "room": room_id,
        "doctor": old["doctor"] if doctor_id is None else doctor_id,
    }
    check_visit(db, {**old, **changes})
    db.update("appointments", appointment_id, **changes)
    if (str(day), start) < (old["day"], old["start"]):
        end_waiting(db, old)
    return {**old, **changes}


def cancel_appointment(
    db: Database, appointment_id: str, asked_by: Literal["patient", "doctor"]
) -> dict[str, str]:
    """Cancel an appointment; gives the fee for it, for which there is an invoice then.

    Args:
        appointment_id: Which.
        asked_by: Who wants it cancelled.
    """
    visit, fee = _booked(db, appointment_id), "0.00"
    if asked_by == "patient" and is_short_notice(db, visit):
        fee = desk(db)["late_fee"]
        db.add(
            "invoices",
            {
                "invoice_id": new_key(db, "invoices", "I"),
                "patient": visit["patient"],
                "reason": "late cancellation",
                "issued_on": str(today(db)),
                "due_on": str(today(db) + datetime.timedelta(days=_PAYMENT_DAYS)),
                "amount": fee,
                "covered": "0.00",
                "paid": "0.00",
            },
        )
    db.update("appointments", appointment_id, status="cancelled")
    end_waiting(db, visit)
    return {"fee": fee}


def _booked(db: Database, appointment_id: str) -> Record:
    visit = db.get("appointments", appointment_id)
    if visit["status"] != "booked":
        raise DomainError(f"appointment {appointment_id} is {visit['status']}")
    rules = desk(db)
    if (visit["day"], visit["start"]) <= (rules["today"], rules["time"]):
        raise DomainError(f"appointment {appointment_id} has begun already")
    return visit
