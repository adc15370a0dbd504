"""What patients want to know or change about themselves: each function adds one goal."""

from __future__ import annotations

from toolorchestra.domain.clinic import named
from toolorchestra.domain.clinic.stock import SUBSTANCES
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def ask_appointment(script: Script, patient: str) -> bool:
    """When an appointment is."""
    visits = named.appointments(script, patient)
    if not visits:
        return False
    words = script.rng.choice(list(visits))
    script.do("list_appointments", patient_id=patient)
    visit = visits[words]
    script.ask(f"On which day and at what time is my {words}?", visit["day"], visit["start"])
    return True


def ask_share(script: Script, patient: str) -> bool:
    """What a service would cost after what the insurance pays."""
    service = script.rng.choice(script.every("services"))
    cover = script.do("get_patient", patient_id=patient)["cover"]
    script.do("list_services")
    percent = 100 - script.record("covers", cover)["percent"]
    script.do("get_rules")
    share = money_text(money(service["price"]) * percent / 100)
    script.ask(f"How much would I have to pay myself for one {service['name']}?", share)
    return True


def change_phone(script: Script, patient: str) -> bool:
    """Have another phone number."""
    phone = f"0{script.rng.randint(200, 999)} {script.rng.randint(100_000, 999_999)}"
    script.do("change_phone", patient_id=patient, phone=phone)
    script.ask(f"My new phone number is {phone}; please note it, digits and space as I say it.")
    return True


def choose_allergies(script: Script, patient: str) -> bool:
    """Be allergic to something else."""
    chosen = script.rng.sample(SUBSTANCES, 3)
    if set(chosen) == set(script.record("patients", patient)["allergies"]):
        return False
    script.do("set_allergies", patient_id=patient, substances=chosen)
    script.ask(f"I am allergic to {chosen[0]}, {chosen[1]} and {chosen[2]}, and to nothing else.")
    return True


def choose_doctors(script: Script, patient: str) -> bool:
    """Prefer other doctors."""
    doctors = script.rng.sample(sorted(script.database.records["doctors"]), 3)
    if doctors == script.record("patients", patient)["preferred_doctors"]:
        return False
    script.do("set_preferred_doctors", patient_id=patient, doctor_ids=doctors)
    names = [f"Dr {named.doctor_name(script, doctor)}" for doctor in doctors]
    script.ask(f"The doctors I prefer are now {names[0]}, then {names[1]}, then {names[2]}.")
    return True


def wait(script: Script, patient: str) -> bool:
    """Wait for an earlier appointment."""
    visits = named.appointments(script, patient)
    who = {
        words: {"doctor_id": visit["doctor"], "service_id": visit["service"]}
        for words, visit in visits.items()
    }
    able = [
        words
        for words in visits
        if script.works("join_waiting_list", patient_id=patient, **who[words])
    ]
    if not able:
        return False
    words = script.rng.choice(able)
    script.do("join_waiting_list", patient_id=patient, **who[words])
    script.ask(f"Put me on the waiting list for an earlier {words}.")
    return True


def stop_waiting(script: Script, patient: str) -> bool:
    """Wait no longer."""
    entries = [one for one in script.every("waiting") if one["patient"] == patient]
    if not entries:
        return False
    entry = script.rng.choice(entries)
    doctor, service = entry["doctor"], entry["service"]
    script.do("leave_waiting_list", patient_id=patient, doctor_id=doctor, service_id=service)
    words = f"{named.service_name(script, service)} with Dr {named.doctor_name(script, doctor)}"
    script.ask(f"I no longer want to wait for an earlier {words}; the appointment itself stays.")
    return True
