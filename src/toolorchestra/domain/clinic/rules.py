"""When an appointment may be: plain rules over records, each giving the sentence that forbids it.

The functions of the clinic ask them, and so does the generator of its records.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from toolorchestra.domain.clinic.times import STEP_MINUTES, is_time, minutes_of, moment_of, time_of
from toolorchestra.domain.database import Record


def end_of(service: Record, start: str) -> str:
    """When a service that begins at `start` ends."""
    return time_of(minutes_of(start) + service["minutes"])


def starts_of(doctor: Record) -> list[str]:
    """All times of a working day at which something may begin."""
    span = range(minutes_of(doctor["opens"]), minutes_of(doctor["closes"]), STEP_MINUTES)
    return [time_of(minutes) for minutes in span]


def offers(doctor: Record, service: Record) -> bool:
    """Whether a doctor offers a service."""
    return service.get("specialty") in (None, *doctor["specialties"])


def can_hold(room: Record, service: Record) -> bool:
    """Whether a room has what a service needs."""
    return set(service["equipment"]) <= set(room["equipment"])


def day_problem(desk: Record, doctor: Record, day: datetime.date) -> str | None:
    """Why a doctor sees nobody on a day."""
    last = datetime.date.fromisoformat(desk["today"]) + datetime.timedelta(days=desk["days_ahead"])
    if day > last:
        return f"appointments are given until {last}"
    if f"{day:%A}" not in doctor["weekdays"]:
        return f"{doctor['name']} does not work on a {day:%A}"
    if str(day) in doctor["leave"]:
        return f"{doctor['name']} is on leave on {day}"
    return None


def hours_problem(
    desk: Record, doctor: Record, service: Record, day: datetime.date, start: str
) -> str | None:
    """Why a doctor, whoever else is there, cannot begin a service then."""
    if not offers(doctor, service):
        return f"{doctor['name']} does not offer the service {service['name']}"
    if not is_time(start):
        return f'start: expected a time on the half hour such as "09:30"; got {start[:60]!r}'
    if problem := day_problem(desk, doctor, day):
        return problem
    if start < doctor["opens"] or end_of(service, start) > doctor["closes"]:
        return f"{doctor['name']} works from {doctor['opens']} to {doctor['closes']}"
    if moment_of(str(day), start) <= moment_of(desk["today"], desk["time"]):
        return f"{day} {start} is past"
    return None


def clash(visit: Record, others: Iterable[Record]) -> str | None:
    """Which of doctor, room and patient of an appointment is in another one at the time."""
    for other in others:
        is_then = other["day"] == visit["day"] and other["status"] == "booked"
        if is_then and other["start"] < visit["end"] and visit["start"] < other["end"]:
            for who in ("doctor", "room", "patient"):
                if other[who] == visit[who]:
                    span = f"from {other['start']} to {other['end']} on {other['day']}"
                    return f"{who} {visit[who]} has another appointment {span}"
    return None
