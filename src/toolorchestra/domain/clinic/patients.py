"""What is known of a patient, and what a patient may change about it."""

from __future__ import annotations

from typing import Any

from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.lookup import by_name, one


def find_patient(db: Database, name: str) -> Record:
    """Find a patient by name.

    Args:
        name: The full name, in any case.
    """
    return by_name(db, "patients", name)


def get_patient(db: Database, patient_id: str) -> Record:
    """Get all that is known of a patient: phone, cover, allergies, preferred doctors.

    Args:
        patient_id: e.g. P012.
    """
    return db.get("patients", patient_id)


def list_appointments(db: Database, patient_id: str) -> list[dict[str, Any]]:
    """List all appointments of a patient, those that are done or cancelled too, by time.

    Args:
        patient_id: e.g. P012.
    """
    db.get("patients", patient_id)
    visits = db.where("appointments", patient=patient_id)
    return [
        {
            **visit,
            "doctor_name": one(db, "doctors", visit["doctor"])["name"],
            "service_name": one(db, "services", visit["service"])["name"],
        }
        for visit in sorted(visits, key=lambda visit: (visit["day"], visit["start"]))
    ]


def change_phone(db: Database, patient_id: str, phone: str) -> str:
    """Change a patient's phone number.

    Args:
        patient_id: Whose.
        phone: The new number.
    """
    db.update("patients", patient_id, phone=phone)
    return "changed"


def set_allergies(db: Database, patient_id: str, substances: list[str]) -> str:
    """Replace the list of what a patient is allergic to.

    Args:
        patient_id: Whose.
        substances: All substances, in any order.
    """
    db.update("patients", patient_id, allergies=substances)
    return "changed"


def set_preferred_doctors(db: Database, patient_id: str, doctor_ids: list[str]) -> str:
    """Replace the list of doctors whom a patient likes to see.

    Args:
        patient_id: Whose.
        doctor_ids: All of them, the best liked first.
    """
    for doctor_id in doctor_ids:
        one(db, "doctors", doctor_id)
    db.update("patients", patient_id, preferred_doctors=doctor_ids)
    return "changed"
