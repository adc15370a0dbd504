"""What patients want to book: each function adds one goal to a task."""

from __future__ import annotations

from toolorchestra.domain.clinic import named
from toolorchestra.domain.clinic.money_goals import overdue_invoices
from toolorchestra.domain.clinic.rules import end_of, offers
from toolorchestra.domain.clinic.slot_search import Slot, first_slot, slots_of
from toolorchestra.domain.clinic.steps import open_amount
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def _draw_who(script: Script, patient: str) -> dict[str, str]:
    """A service for the patient, and a doctor who offers it."""
    service = script.rng.choice(script.every("services"))
    doctors = [one for one in script.every("doctors") if offers(one, service)]
    doctor = script.rng.choice(doctors)["doctor_id"]
    return {"patient_id": patient, "doctor_id": doctor, "service_id": service["service_id"]}


def _words(script: Script, who: dict[str, str]) -> str:
    service = named.service_name(script, who["service_id"])
    return f"a {service} with Dr {named.doctor_name(script, who['doctor_id'])}"


def _book(script: Script, who: dict[str, str], slot: Slot | None) -> bool:
    if slot is None or not script.works("book_appointment", **who, **slot.arguments):
        return False
    script.do("book_appointment", **who, **slot.arguments)
    return True


def book_then(script: Script, patient: str) -> bool:
    """Book a time that is free."""
    who = _draw_who(script, patient)
    day = script.rng.choice(named.working_days(script, who["doctor_id"]))
    slots = slots_of(script, who, day)
    if not slots:
        return False
    slot = script.rng.choice(slots)
    if not _book(script, who, slot):
        return False
    script.ask(f"Book me {_words(script, who)} on {day} at {slot.start}.")
    return True


def book_what_is_taken(script: Script, patient: str) -> bool:
    """Ask for a time at which the doctor sees somebody else."""
    who = _draw_who(script, patient)
    day = str(script.rng.choice(named.working_days(script, who["doctor_id"])))
    visits = named.schedule(script, who["doctor_id"], day)
    taken = [visit["start"] for visit in visits if visit["patient"] != patient]
    slots = slots_of(script, who, day)
    if not taken or not slots:
        return False
    if not script.works("book_appointment", **who, **slots[-1].arguments):
        return False  # overdue invoices are in the way too
    start = script.rng.choice(taken)
    script.do("get_schedule", doctor_id=who["doctor_id"], day=day)
    script.do("find_slots", **who, day=day)
    script.ask(
        f"Book me {_words(script, who)} on {day} at {start}. If that cannot be, book nothing, and "
        "tell me the latest time of that day at which it could begin.",
        slots[-1].start,
    )
    return True


def book_earliest(script: Script, patient: str) -> bool:
    """Book the earliest time of a part of the day."""
    who = _draw_who(script, patient)
    days = named.working_days(script, who["doctor_id"])
    first = script.rng.randrange(len(days) - 1)
    part, limits = script.rng.choice(
        (
            ("", {}),
            (" that begins before 11:00", {"before": "11:00"}),
            (" that begins at 12:00 or later", {"since": "12:00"}),
            (" that begins at 15:00 or later", {"since": "15:00"}),
        )
    )
    slot = first_slot(script, who, days[first:], **limits)
    if slot is None or not _book(script, who, slot):
        return False
    told = (slot.start,) if slot.day == str(days[first]) else (slot.day, slot.start)
    script.ask(
        f"Book me the earliest free time from {days[first]} on for {_words(script, who)}{part}; "
        "tell me the day and the time.",
        *told,
    )
    return True


def book_preferred(script: Script, patient: str) -> bool:
    """See the best liked doctor who has time."""
    who = _draw_who(script, patient)
    service = script.record("services", who["service_id"])
    day = script.rng.choice(named.working_days(script, who["doctor_id"]))
    for doctor in script.do("get_patient", patient_id=patient)["preferred_doctors"]:
        if offers(script.record("doctors", doctor), service):
            who["doctor_id"] = doctor
            slot = first_slot(script, who, [day])
            if slot is not None:
                break
    else:
        return False
    if not _book(script, who, slot):
        return False
    script.ask(
        f"Book me a {service['name']} on {day} with the one of my preferred doctors whom I like "
        "best of those who can see me for it on that day, at the earliest; who is it, and when?",
        named.doctor_name(script, who["doctor_id"]),
        slot.start,
    )
    return True


def pay_and_book(script: Script, patient: str) -> bool:
    """Pay as much as it takes to get an appointment."""
    overdue = overdue_invoices(script, patient)
    limit = money(script.record("desk", "main")["max_overdue"])
    rest = sum(open_amount(one) for one in overdue)
    if rest <= limit:
        return False
    script.do("list_invoices", patient_id=patient)
    paid = money("0.00")
    while rest > limit:
        amount = open_amount(overdue[0])
        arguments = {"invoice_id": overdue.pop(0)["invoice_id"], "amount": money_text(amount)}
        script.do("pay_invoice", **arguments)
        rest, paid = rest - amount, paid + amount
    who = _draw_who(script, patient)
    days = named.working_days(script, who["doctor_id"])
    slot = first_slot(script, who, days[script.rng.randrange(len(days)) :][:1])
    if slot is None or not _book(script, who, slot):
        return False
    script.ask(
        f"Book me the earliest free time on {slot.day} for {_words(script, who)} and tell me when "
        "it is. If overdue invoices are in the way, pay as few of them as your rules ask for, each "
        "in full, and tell me what I have paid altogether.",
        slot.start,
        money_text(paid),
    )
    return True


def book_two(script: Script, patient: str) -> bool:
    """See two doctors on one day, one after the other."""
    first, second = _draw_who(script, patient), _draw_who(script, patient)
    if first["doctor_id"] == second["doctor_id"]:
        return False
    service = script.record("services", first["service_id"])
    days = set(named.working_days(script, first["doctor_id"]))
    for day in sorted(days & set(named.working_days(script, second["doctor_id"]))):
        earlier = [slot for slot in slots_of(script, first, day) if slot.start < "12:00"][:1]
        end = end_of(service, earlier[0].start) if earlier else "24:00"
        later = [slot for slot in slots_of(script, second, day) if slot.start >= end]
        if not later:
            continue
        if not _book(script, first, first_slot(script, first, [day])):
            return False
        if not _book(script, second, first_slot(script, second, [day], since=end)):
            return False
        script.ask(
            "I want two things on one day, from tomorrow on: first "
            f"{_words(script, first)} that begins before 12:00, and after it has ended "
            f"{_words(script, second)}. Take the first day on which this is possible, the earliest "
            "time for the first and then the earliest for the second; tell me the day and both "
            "times.",
            str(day),
            earlier[0].start,
            later[0].start,
        )
        return True
    return False
