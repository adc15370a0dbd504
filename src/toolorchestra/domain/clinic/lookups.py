"""What can be looked up about the clinic and its doctors; nothing here changes a record."""

from __future__ import annotations

import datetime
from typing import Any

from toolorchestra.domain.clinic.rules import offers
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.lookup import one


def get_rules(db: Database) -> dict[str, Any]:
    """Get today's date and time, the fees and limits, and what each cover pays."""
    return {"desk": db.get("desk", "main"), "covers": db.where("covers")}


def list_services(db: Database) -> list[Record]:
    """List the services: how long they take, what they cost and what they need."""
    return db.where("services")


def list_rooms(db: Database) -> list[Record]:
    """List the rooms with their equipment."""
    return db.where("rooms")


def list_doctors(db: Database, service_id: str | None = None) -> list[Record]:
    """List doctors with their specialties, weekdays, hours and days of leave.

    Args:
        service_id: Gives only those who offer this service.
    """
    if service_id is None:
        return db.where("doctors")
    service = one(db, "services", service_id)
    return db.where("doctors", lambda doctor: offers(doctor, service))


def get_schedule(db: Database, doctor_id: str, day: datetime.date) -> list[dict[str, Any]]:
    """Get a doctor's booked appointments of a day in the order of time.

    Args:
        doctor_id: e.g. D03.
        day: The day.
    """
    db.get("doctors", doctor_id)
    visits = db.where("appointments", doctor=doctor_id, day=str(day), status="booked")
    return [
        {
            **visit,
            "patient_name": one(db, "patients", visit["patient"])["name"],
            "service_name": one(db, "services", visit["service"])["name"],
        }
        for visit in sorted(visits, key=lambda visit: str(visit["start"]))
    ]


def get_medicine(db: Database, medicine_id: str) -> Record:
    """Get a medicine with its substances.

    Args:
        medicine_id: e.g. X07.
    """
    return db.get("medicines", medicine_id)
