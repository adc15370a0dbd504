"""How a user's words name records: only where the words name one thing."""

from __future__ import annotations

import datetime

from toolorchestra.domain.clinic.rules import day_problem
from toolorchestra.domain.clinic.stock import DAYS_AHEAD, TODAY
from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.lookup import by_words
from toolorchestra.domain.script import Script


def doctor_name(script: Script, doctor_id: Key) -> str:
    """A doctor's surname, which no other doctor has."""
    return str(script.record("doctors", doctor_id)["name"].split()[-1])


def service_name(script: Script, service_id: Key) -> str:
    """What a service is called."""
    return str(script.record("services", service_id)["name"])


def coming(script: Script, patient_id: Key) -> list[Record]:
    """A patient's coming appointments in the order of time."""
    rules = script.record("desk", "main")
    found = [
        visit
        for visit in script.every("appointments")
        if visit["patient"] == patient_id
        and visit["status"] == "booked"
        and (visit["day"], visit["start"]) > (rules["today"], rules["time"])
    ]
    return sorted(found, key=lambda visit: (visit["day"], visit["start"]))


def appointments(script: Script, patient_id: Key) -> dict[str, Record]:
    """A patient's coming appointments by the words that name one of them."""
    visits = coming(script, patient_id)
    words = [
        f"{service_name(script, v['service'])} with Dr {doctor_name(script, v['doctor'])}"
        for v in visits
    ]
    return by_words(words, visits)


def prescriptions(script: Script, patient_id: Key) -> dict[str, Record]:
    """A patient's active prescriptions by the name of the medicine."""
    return {
        script.record("medicines", one["medicine"])["name"]: one
        for one in script.every("prescriptions")
        if one["patient"] == patient_id and one["status"] == "active"
    }


def invoices(script: Script, patient_id: Key) -> dict[str, Record]:
    """A patient's invoices by the words that name one of them."""
    own = [one for one in script.every("invoices") if one["patient"] == patient_id]
    words = [f"the {one['reason']} of {one['issued_on']}" for one in own]
    return by_words(words, own)


def schedule(script: Script, doctor_id: Key, day: str) -> list[Record]:
    """A doctor's booked appointments of a day in the order of time."""
    visits = [
        visit
        for visit in script.every("appointments")
        if visit["doctor"] == doctor_id and visit["day"] == day and visit["status"] == "booked"
    ]
    return sorted(visits, key=lambda visit: str(visit["start"]))


def working_days(script: Script, doctor_id: Key) -> list[datetime.date]:
    """The days from tomorrow on that a doctor works, as far ahead as appointments are given."""
    rules, doctor = script.record("desk", "main"), script.record("doctors", doctor_id)
    days = [TODAY + datetime.timedelta(days=number) for number in range(1, DAYS_AHEAD + 1)]
    return [day for day in days if day_problem(rules, doctor, day) is None]
