"""Steps that several of the clinic's functions share."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.clinic.rules import can_hold, clash, hours_problem
from toolorchestra.domain.clinic.times import moment_of
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.value import money, money_text


def desk(db: Database) -> Record:
    """What holds for everybody."""
    return db.where("desk")[0]


def today(db: Database) -> datetime.date:
    """The day on which everything happens."""
    return datetime.date.fromisoformat(desk(db)["today"])


def check_visit(db: Database, visit: Record) -> None:
    """Raises DomainError where an appointment cannot be as `visit` says."""
    doctor, service = one(db, "doctors", visit["doctor"]), one(db, "services", visit["service"])
    room = one(db, "rooms", visit["room"])
    day = datetime.date.fromisoformat(visit["day"])
    if problem := hours_problem(desk(db), doctor, service, day, visit["start"]):
        raise DomainError(problem)
    if not can_hold(room, service):
        missing = sorted(set(service["equipment"]) - set(room["equipment"]))
        raise DomainError(f"room {room['room_id']} lacks {', '.join(missing)}")
    others = db.where(
        "appointments",
        lambda other: other["appointment_id"] != visit["appointment_id"],
        day=visit["day"],
        status="booked",
    )
    if problem := clash(visit, others):
        raise DomainError(problem)


def is_short_notice(db: Database, visit: Record) -> bool:
    """Whether so little time is left that a patient cannot cancel free of charge."""
    rules = desk(db)
    left = moment_of(visit["day"], visit["start"]) - moment_of(rules["today"], rules["time"])
    return left < datetime.timedelta(hours=rules["notice_hours"])


def open_amount(invoice: Record) -> Decimal:
    """What a patient still owes of an invoice."""
    return money(invoice["amount"]) - money(invoice["covered"]) - money(invoice["paid"])


def is_overdue(invoice: Record, day: datetime.date) -> bool:
    """Whether an invoice should have been settled before `day`."""
    return open_amount(invoice) > 0 and datetime.date.fromisoformat(invoice["due_on"]) < day


def check_overdue(db: Database, patient_id: str) -> None:
    """Raises DomainError where a patient owes too much to get an appointment."""
    invoices, limit = db.where("invoices", patient=patient_id), money(desk(db)["max_overdue"])
    overdue = sum((open_amount(i) for i in invoices if is_overdue(i, today(db))), Decimal(0))
    if overdue > limit:
        raise DomainError(
            f"the patient's overdue invoices come to {money_text(overdue)}, more than the "
            f"{money_text(limit)} with which a new appointment is given"
        )


def end_waiting(db: Database, visit: Record) -> None:
    """Take the patient of an appointment off the waiting list for it."""
    who = {name: visit[name] for name in ("patient", "doctor", "service")}
    for entry in db.where("waiting", **who):
        db.remove("waiting", entry["waiting_id"])
