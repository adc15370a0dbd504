"""The waiting list for earlier appointments, and doctors' days of leave."""

from __future__ import annotations

import datetime
from typing import Any

from toolorchestra.domain.clinic.steps import today
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.new_key import new_key


def list_waiting(db: Database, doctor_id: str, service_id: str) -> list[dict[str, Any]]:
    """List who waits for an earlier appointment, who has waited longest first.

    Args:
        doctor_id: Whose patients.
        service_id: Which service.
    """
    db.get("doctors", doctor_id)
    one(db, "services", service_id)
    entries = db.where("waiting", doctor=doctor_id, service=service_id)
    return [
        {**entry, "patient_name": one(db, "patients", entry["patient"])["name"]}
        for entry in sorted(entries, key=lambda entry: str(entry["since"]))
    ]


def join_waiting_list(db: Database, patient_id: str, doctor_id: str, service_id: str) -> Record:
    """Let a patient wait for an earlier appointment.

    Args:
        patient_id: Who waits.
        doctor_id: For which doctor.
        service_id: For which service.
    """
    db.get("patients", patient_id)
    one(db, "doctors", doctor_id)
    one(db, "services", service_id)
    who = {"patient": patient_id, "doctor": doctor_id, "service": service_id}
    if not db.where("appointments", **who, status="booked"):
        raise DomainError("the patient has no appointment for the service with the doctor")
    if db.where("waiting", **who):
        raise DomainError("the patient is waiting already")
    entry = {"waiting_id": new_key(db, "waiting", "W"), **who, "since": str(today(db))}
    db.add("waiting", entry)
    return entry


def leave_waiting_list(db: Database, patient_id: str, doctor_id: str, service_id: str) -> str:
    """Let a patient wait no longer.

    Args:
        patient_id: Who waits.
        doctor_id: For which doctor.
        service_id: For which service.
    """
    entries = db.where("waiting", patient=patient_id, doctor=doctor_id, service=service_id)
    if not entries:
        raise DomainError("the patient is not waiting for this")
    db.remove("waiting", entries[0]["waiting_id"])
    return "taken off the list"


def take_leave(db: Database, doctor_id: str, day: datetime.date) -> str:
    """Note that a doctor is on leave on a day on which no appointment is left.

    Args:
        doctor_id: Who.
        day: The day.
    """
    doctor = db.get("doctors", doctor_id)
    if day < today(db) or str(day) in doctor["leave"]:
        raise DomainError(f"{day} is past, or a day of leave already")
    visits = db.where("appointments", doctor=doctor_id, day=str(day), status="booked")
    if visits:
        raise DomainError(f"the doctor has {len(visits)} appointments on {day}")
    db.update("doctors", doctor_id, leave=[*doctor["leave"], str(day)])
    return "noted"
