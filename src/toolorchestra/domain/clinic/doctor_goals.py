"""What doctors want with their days and their patients: each function adds one goal to a task."""

from __future__ import annotations

from decimal import Decimal

from toolorchestra.domain.clinic import named
from toolorchestra.domain.clinic.moving_goals import who_of
from toolorchestra.domain.clinic.rules import offers
from toolorchestra.domain.clinic.slot_search import first_slot
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def draw_day(script: Script, doctor: str, at_least: int = 1) -> tuple[str, list[Record]] | None:
    """A coming day with appointments, and these."""
    days = [str(day) for day in named.working_days(script, doctor)]
    full = [day for day in days if len(named.schedule(script, doctor, day)) >= at_least]
    if not full:
        return None
    day = script.rng.choice(full)
    return day, named.schedule(script, doctor, day)


def patient_name(script: Script, visit: Record) -> str:
    """Whom an appointment is for."""
    return str(script.record("patients", visit["patient"])["name"])


def ask_last(script: Script, doctor: str) -> bool:
    """Who comes last on a day, and when the day is over."""
    drawn = draw_day(script, doctor)
    if drawn is None:
        return False
    day, visits = drawn
    script.do("get_schedule", doctor_id=doctor, day=day)
    script.ask(
        f"Who is my last patient on {day}, and at what time does that appointment end?",
        patient_name(script, visits[-1]),
        visits[-1]["end"],
    )
    return True


def ask_income(script: Script, doctor: str) -> bool:
    """What a day's appointments come to."""
    drawn = draw_day(script, doctor, at_least=2)
    if drawn is None:
        return False
    day, visits = drawn
    script.do("get_schedule", doctor_id=doctor, day=day)
    prices = [money(script.record("services", v["service"])["price"]) for v in visits]
    total = money_text(sum(prices, Decimal(0)))
    script.ask(f"What do my appointments on {day} come to at our prices, all together?", total)
    return True


def ask_waiting(script: Script, doctor: str) -> bool:
    """Who has waited longest."""
    services = sorted(
        {one["service"] for one in script.every("waiting") if one["doctor"] == doctor}
    )
    if not services:
        return False
    service = script.rng.choice(services)
    entries = script.do("list_waiting", doctor_id=doctor, service_id=service)
    name = named.service_name(script, service)
    script.ask(
        f"Who has waited longest for an earlier {name} with me, and since when?",
        entries[0]["patient_name"],
        entries[0]["since"],
    )
    return True


def renew_for(script: Script, doctor: str) -> bool:
    """Renew a patient's prescription, if the rules let this doctor do it."""
    patient = script.rng.choice(sorted(script.database.records["patients"]))
    own = named.prescriptions(script, patient)
    if not own:
        return False
    medicine = script.rng.choice(list(own))
    prescription = own[medicine]
    call = {"prescription_id": prescription["prescription_id"], "doctor_id": doctor}
    if script.works("renew_prescription", **call):
        told = script.do("renew_prescription", **call)["valid_until"]
    else:
        script.do("list_prescriptions", patient_id=patient)
        told = prescription["valid_until"]
    name = script.record("patients", patient)["name"]
    script.ask(
        f"If the rules allow it, renew {medicine} for {name} in my name. Until which day is it "
        "valid, renewed or not?",
        told,
    )
    return True


def hand_over(script: Script, doctor: str) -> bool:
    """Give a colleague one patient."""
    drawn = draw_day(script, doctor)
    if drawn is None:
        return False
    day, visits = drawn
    visit = script.rng.choice(visits)
    service = script.record("services", visit["service"])
    colleagues = []
    for other in script.every("doctors"):
        call = {
            "appointment_id": visit["appointment_id"],
            "day": day,
            "start": visit["start"],
            "room_id": visit["room"],
            "asked_by": "doctor",
            "doctor_id": other["doctor_id"],
        }
        if other["doctor_id"] != doctor and offers(other, service):
            colleagues += [call] if script.works("move_appointment", **call) else []
    if not colleagues:
        return False
    call = script.rng.choice(colleagues)
    script.do("move_appointment", **call)
    script.ask(
        f"On {day} at {visit['start']}, let Dr {named.doctor_name(script, call['doctor_id'])} see "
        "my patient at the same time in the same room; who is the patient?",
        patient_name(script, visit),
    )
    return True


def fill_gaps(script: Script, doctor: str) -> bool:
    """Give a freed time to who waits longest, and what that frees to the next."""
    drawn = draw_day(script, doctor)
    if drawn is None:
        return False
    day, visits = drawn
    gap = script.rng.choice(visits)
    call = {"doctor_id": doctor, "service_id": gap["service"]}
    script.do("cancel_appointment", appointment_id=gap["appointment_id"], asked_by="doctor")
    queue, told, first = script.do("list_waiting", **call), [], gap
    for entry in queue:
        later = _coming(script, entry)
        if len(later) != 1:
            return False
        if (later[0]["day"], later[0]["start"]) <= (gap["day"], gap["start"]):
            continue
        call = {"day": gap["day"], "start": gap["start"], "room_id": gap["room"]}
        call |= {"appointment_id": later[0]["appointment_id"], "asked_by": "doctor"}
        if script.works("move_appointment", **call):
            script.do("move_appointment", **call)
            told.append(entry["patient_name"])
            gap = later[0]
    if len(told) < 2:
        return False
    script.ask(
        f"Cancel my appointment on {day} at {first['start']}. Go through my waiting list for the "
        "same service once, from who has waited longest on: whose appointment is later than the "
        "time that is free, and who can come then, gets it, in the room that is free with it, and "
        "the time that this frees is what the next one may get. Tell me who was moved.",
        *told,
    )
    return True


def _coming(script: Script, entry: Record) -> list[Record]:
    return [
        visit
        for visit in script.every("appointments")
        if visit["status"] == "booked"
        and all(visit[name] == entry[name] for name in ("patient", "doctor", "service"))
    ]


def take_day_off(script: Script, doctor: str) -> bool:
    """Be on leave: all appointments of the day move, then the leave is noted."""
    drawn = draw_day(script, doctor, at_least=2)
    if drawn is None or len(drawn[1]) > 4:
        return False
    day, visits = drawn
    later = [d for d in named.working_days(script, doctor) if str(d) > day]
    last = ""
    for visit in visits:
        slot = first_slot(script, who_of(visit), later)
        if slot is None:
            return False
        key = visit["appointment_id"]
        script.do("move_appointment", appointment_id=key, **slot.arguments, asked_by="doctor")
        last = slot.start
    script.do("take_leave", doctor_id=doctor, day=day)
    script.ask(
        f"I take {day} off. Move each of my appointments of that day, in the order of their times, "
        "to the earliest time after that day at which the patient and I are free; then note my "
        "leave. At what time is the one now that you moved last?",
        last,
    )
    return True
