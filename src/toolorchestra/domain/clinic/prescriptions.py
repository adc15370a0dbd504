"""Prescriptions."""

from __future__ import annotations

import datetime
from typing import Any

from toolorchestra.domain.clinic.steps import desk, today
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one


def list_prescriptions(db: Database, patient_id: str) -> list[dict[str, Any]]:
    """List all prescriptions of a patient with the medicine and the doctor who wrote it.

    Args:
        patient_id: e.g. P012.
    """
    db.get("patients", patient_id)
    return [
        {
            **prescription,
            "medicine_name": one(db, "medicines", prescription["medicine"])["name"],
            "doctor_name": one(db, "doctors", prescription["doctor"])["name"],
        }
        for prescription in db.where("prescriptions", patient=patient_id)
    ]


def renew_prescription(db: Database, prescription_id: str, doctor_id: str) -> dict[str, Any]:
    """Renew a prescription; gives the day until which it is valid then.

    Args:
        prescription_id: Which.
        doctor_id: Who renews it.
    """
    prescription = _active(db, prescription_id)
    one(db, "doctors", doctor_id)
    if prescription["doctor"] != doctor_id:
        writer = one(db, "doctors", prescription["doctor"])["name"]
        raise DomainError(f"only {writer}, who wrote the prescription, renews it")
    if prescription["renewals_left"] < 1:
        raise DomainError("no renewal of the prescription is left")
    _check_visited(db, prescription)
    allergies = set(one(db, "patients", prescription["patient"])["allergies"])
    substances = set(one(db, "medicines", prescription["medicine"])["substances"])
    if harmful := sorted(allergies & substances):
        raise DomainError(f"the patient is allergic to {', '.join(harmful)}")
    until = str(today(db) + datetime.timedelta(days=desk(db)["valid_days"]))
    left = prescription["renewals_left"] - 1
    db.update("prescriptions", prescription_id, valid_until=until, renewals_left=left)
    return {"valid_until": until, "renewals_left": left}


def stop_prescription(db: Database, prescription_id: str) -> str:
    """Stop a prescription for good.

    Args:
        prescription_id: Which.
    """
    _active(db, prescription_id)
    db.update("prescriptions", prescription_id, status="stopped")
    return "stopped"


def _active(db: Database, prescription_id: str) -> Record:
    prescription = db.get("prescriptions", prescription_id)
    if prescription["status"] != "active":
        raise DomainError(f"prescription {prescription_id} is stopped")
    return prescription


def _check_visited(db: Database, prescription: Record) -> None:
    days = desk(db)["visit_days"]
    first = str(today(db) - datetime.timedelta(days=days))
    who = {name: prescription[name] for name in ("patient", "doctor")}
    if not db.where("appointments", lambda one: one["day"] >= first, **who, status="done"):
        raise DomainError(f"the doctor has not seen the patient in the last {days} days")
