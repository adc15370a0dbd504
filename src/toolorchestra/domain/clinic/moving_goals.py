"""What patients want with the appointments they have: each function adds one goal to a task."""

from __future__ import annotations

import datetime

from toolorchestra.domain.clinic import named
from toolorchestra.domain.clinic.slot_search import Slot, first_slot, slots_of
from toolorchestra.domain.clinic.times import moment_of
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script


def who_of(visit: Record) -> dict[str, str]:
    """Patient, doctor and service of an appointment, as functions take them."""
    return {f"{name}_id": visit[name] for name in ("patient", "doctor", "service")}


def _is_late(script: Script, visit: Record) -> bool:
    rules = script.record("desk", "main")
    left = moment_of(visit["day"], visit["start"]) - moment_of(rules["today"], rules["time"])
    return left < datetime.timedelta(hours=rules["notice_hours"])


def _move(script: Script, visit: Record, slot: Slot) -> None:
    key = visit["appointment_id"]
    script.do("move_appointment", appointment_id=key, **slot.arguments, asked_by="patient")


def cancel(script: Script, patient: str) -> bool:
    """Cancel an appointment, which may cost a fee."""
    visits = named.appointments(script, patient)
    if not visits:
        return False
    late = [words for words in visits if _is_late(script, visits[words])]
    words = script.rng.choice(late or list(visits))  # the fee is what makes it worth asking
    is_late = words in late
    key = visits[words]["appointment_id"]
    fee = script.do("cancel_appointment", appointment_id=key, asked_by="patient")["fee"]
    sentence = f"Cancel my {words}; if that costs me something, do it too and tell me how much."
    script.ask(sentence, *([fee] if is_late else []))
    return True


def cancel_unless_late(script: Script, patient: str) -> bool:
    """Cancel what costs nothing to cancel, and hear when the rest is."""
    visits = named.coming(script, patient)
    late = [visit for visit in visits if _is_late(script, visit)]
    if not late or len(late) == len(visits):
        return False
    script.do("list_appointments", patient_id=patient)
    for visit in visits[len(late) :]:  # in the order of time, so the late ones come first
        key = visit["appointment_id"]
        script.do("cancel_appointment", appointment_id=key, asked_by="patient")
    script.ask(
        "Cancel each of my coming appointments that I can cancel without a fee, and tell me at "
        "what time each of the others begins.",
        *(visit["start"] for visit in late),
    )
    return True


def move(script: Script, patient: str) -> bool:
    """Move an appointment to another day."""
    visits = named.appointments(script, patient)
    able = [words for words in visits if not _is_late(script, visits[words])]
    if not able:
        return False
    words = script.rng.choice(able)
    visit = visits[words]
    days = [d for d in named.working_days(script, visit["doctor"]) if str(d) != visit["day"]]
    day = script.rng.choice(days)
    slot = first_slot(script, who_of(visit), [day])
    if slot is None:
        return False
    _move(script, visit, slot)
    script.ask(f"Move my {words} to the earliest free time on {day}. When is that?", slot.start)
    return True


def move_late(script: Script, patient: str) -> bool:
    """Have another appointment instead of one that is too near to be moved."""
    visits = named.appointments(script, patient)
    late = [words for words in visits if _is_late(script, visits[words])]
    if not late:
        return False
    words = script.rng.choice(late)
    visit = visits[words]
    later = [d for d in named.working_days(script, visit["doctor"]) if str(d) > visit["day"]]
    day = script.rng.choice(later)
    key = visit["appointment_id"]
    fee = script.do("cancel_appointment", appointment_id=key, asked_by="patient")["fee"]
    slot = first_slot(script, who_of(visit), [day])
    booking = {**who_of(visit), **slot.arguments} if slot else {}
    if slot is None or not script.works("book_appointment", **booking):
        return False
    script.do("book_appointment", **booking)
    script.ask(
        f"I cannot come to my {words}. I want it at the earliest free time on {day} instead, even "
        "if it has to be cancelled and booked anew for that. Tell me the new time, and what the "
        "change costs me, if anything.",
        slot.start,
        fee,
    )
    return True


def move_two(script: Script, patient: str) -> bool:
    """Have one appointment when another one was, which has to move out of the way first."""
    visits = named.appointments(script, patient)
    able = [words for words in visits if not _is_late(script, visits[words])]
    if len(able) < 2:
        return False
    first, second = script.rng.sample(able, 2)
    away, into = visits[first], visits[second]
    days = [d for d in named.working_days(script, away["doctor"]) if str(d) > away["day"]]
    slot = first_slot(script, who_of(away), script.rng.sample(days, 1)) if days else None
    if slot is None or away["day"] == into["day"]:
        return False
    _move(script, away, slot)
    freed = [
        one for one in slots_of(script, who_of(into), away["day"]) if one.start == away["start"]
    ]
    if not freed:
        return False
    _move(script, into, freed[0])
    script.ask(
        f"Move my {second} to the day and time at which I have my {first} now, and that one to the "
        f"earliest free time on {slot.day}. At what time do I have to come on that day?",
        slot.start,
    )
    return True


def move_all_later(script: Script, patient: str) -> bool:
    """Be away for some days: everything on them moves to days after that."""
    visits = named.coming(script, patient)
    days = sorted({visit["day"] for visit in visits})
    if len(days) < 2:
        return False
    until = days[1]
    within = [visit for visit in visits if visit["day"] <= until]
    if any(_is_late(script, visit) for visit in within):
        return False
    told = []
    for visit in within:
        after = [d for d in named.working_days(script, visit["doctor"]) if str(d) > until]
        slot = first_slot(script, who_of(visit), after)
        if slot is None:
            return False
        _move(script, visit, slot)
        told += [slot.day, slot.start]
    script.ask(
        f"I am away until {until}, that day included. Move each of my appointments until then to "
        "the earliest free time with the same doctor after that day, one after the other in the "
        "order in which they are now; tell me the new days and times.",
        *told,
    )
    return True
