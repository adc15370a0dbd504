"""How a user's words name records: only where the words name one thing."""

from __future__ import annotations

import datetime

from toolorchestra.domain.clinic.rules import day_problem
from toolorchestra.domain.clinic.stock import DAYS_AHEAD, TODAY
from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.script import Script


def record(script: Script, collection: str, key: Key) -> Record:
    """One record, to be read only."""
    return script.database.records[collection][key]


def every(script: Script, collection: str) -> list[Record]:
    """All records of a collection, to be read only."""
    return list(script.database.records[collection].values())


def doctor_name(script: Script, doctor_id: Key) -> str:
    """A doctor's surname, which no other doctor has."""
    return str(record(script, "doctors", doctor_id)["name"].split()[-1])


def service_name(script: Script, service_id: Key) -> str:
    """What a service is called."""
    return str(record(script, "services", service_id)["name"])


def coming(script: Script, patient_id: Key) -> list[Record]:
    """A patient's coming appointments in the order of time."""
    rules = record(script, "desk", "main")
    found = [
        visit
        for visit in every(script, "appointments")
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
    return _single(words, visits)


def prescriptions(script: Script, patient_id: Key) -> dict[str, Record]:
    """A patient's active prescriptions by the name of the medicine."""
    return {
        record(script, "medicines", one["medicine"])["name"]: one
        for one in every(script, "prescriptions")
        if one["patient"] == patient_id and one["status"] == "active"
    }


def invoices(script: Script, patient_id: Key) -> dict[str, Record]:
    """A patient's invoices by the words that name one of them."""
    own = [one for one in every(script, "invoices") if one["patient"] == patient_id]
    words = [f"the {one['reason']} of {one['issued_on']}" for one in own]
    return _single(words, own)


def schedule(script: Script, doctor_id: Key, day: str) -> list[Record]:
    """A doctor's booked appointments of a day in the order of time."""
    visits = [
        visit
        for visit in every(script, "appointments")
        if visit["doctor"] == doctor_id and visit["day"] == day and visit["status"] == "booked"
    ]
    return sorted(visits, key=lambda visit: str(visit["start"]))


def working_days(script: Script, doctor_id: Key) -> list[datetime.date]:
    """The days from tomorrow on that a doctor works, as far ahead as appointments are given."""
    rules, doctor = record(script, "desk", "main"), record(script, "doctors", doctor_id)
    days = [TODAY + datetime.timedelta(days=number) for number in range(1, DAYS_AHEAD + 1)]
    return [day for day in days if day_problem(rules, doctor, day) is None]


def _single(words: list[str], records: list[Record]) -> dict[str, Record]:
    named = sorted(zip(words, records, strict=True), key=lambda pair: pair[0])
    return {word: one for word, one in named if words.count(word) == 1}
