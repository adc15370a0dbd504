"""What patients want with their prescriptions: each function adds one goal to a task."""

from __future__ import annotations

from toolorchestra.domain.clinic import named
from toolorchestra.domain.clinic.slot_search import first_slot
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script

_FOLLOW_UP = "follow-up visit"


def _renews(script: Script, prescription: Record) -> bool:
    return script.works(
        "renew_prescription",
        prescription_id=prescription["prescription_id"],
        doctor_id=prescription["doctor"],
    )


def _renew(script: Script, prescription: Record) -> str:
    given = script.do(
        "renew_prescription",
        prescription_id=prescription["prescription_id"],
        doctor_id=prescription["doctor"],
    )
    return str(given["valid_until"])


def ask_renewals(script: Script, patient: str) -> bool:
    """How often a prescription can be renewed, and by whom."""
    own = named.prescriptions(script, patient)
    left_over = [name for name in own if own[name]["renewals_left"]]
    if not left_over:
        return False
    name = script.rng.choice(left_over)
    script.do("list_prescriptions", patient_id=patient)
    writer = named.doctor_name(script, own[name]["doctor"])
    left = str(own[name]["renewals_left"])
    script.ask(f"Which doctor wrote my {name}, and how many renewals of it are left?", writer, left)
    return True


def renew(script: Script, patient: str) -> bool:
    """Renew a prescription."""
    own = named.prescriptions(script, patient)
    able = [name for name in own if _renews(script, own[name])]
    if not able:
        return False
    name = script.rng.choice(able)
    until = _renew(script, own[name])
    script.ask(f"Have my {name} renewed; until which day is it valid then?", until)
    return True


def renew_by_another(script: Script, patient: str) -> bool:
    """Ask for a renewal by a doctor who did not write the prescription."""
    own = named.prescriptions(script, patient)
    if not own:
        return False
    name = script.rng.choice(list(own))
    others = [d for d in sorted(script.database.records["doctors"]) if d != own[name]["doctor"]]
    other = named.doctor_name(script, script.rng.choice(others))
    script.do("list_prescriptions", patient_id=patient)
    script.ask(
        f"Let Dr {other} renew my {name}; if your rules forbid that, leave it as it is and tell me "
        "who would have to renew it and until which day it is valid now.",
        named.doctor_name(script, own[name]["doctor"]),
        own[name]["valid_until"],
    )
    return True


def stop_harmful(script: Script, patient: str) -> bool:
    """Stop what the patient is allergic to."""
    allergies = set(script.do("get_patient", patient_id=patient)["allergies"])
    own = named.prescriptions(script, patient)
    script.do("list_prescriptions", patient_id=patient)
    harmful = []
    for name, prescription in own.items():
        medicine = script.do("get_medicine", medicine_id=prescription["medicine"])
        if allergies & set(medicine["substances"]):
            harmful.append(name)
    if not harmful or len(own) < 2:
        return False
    for name in harmful:
        script.do("stop_prescription", prescription_id=own[name]["prescription_id"])
    script.ask(
        "Look through my active prescriptions: stop those that have something I am allergic to, "
        "and tell me their names.",
        *harmful,
    )
    return True


def renew_or_visit(script: Script, patient: str) -> bool:
    """Be seen first where the doctor has not seen the patient of late."""
    own = named.prescriptions(script, patient)
    unseen = [
        name
        for name, one_of_own in own.items()
        if one_of_own["renewals_left"]
        and not _was_seen(script, one_of_own)
        # Else the patient would come for nothing.
        and not _harms(script, one_of_own)
    ]
    if not unseen:
        return False
    name = script.rng.choice(unseen)
    (service,) = [s for s in script.every("services") if s["name"] == _FOLLOW_UP]
    doctor = own[name]["doctor"]
    who = {"patient_id": patient, "doctor_id": doctor, "service_id": service["service_id"]}
    slot = first_slot(script, who, named.working_days(script, doctor))
    if slot is None or not script.works("book_appointment", **who, **slot.arguments):
        return False
    script.do("book_appointment", **who, **slot.arguments)
    script.ask(
        f"Have my {name} renewed. Should its doctor have to see me before that, book me the "
        f"earliest {_FOLLOW_UP} from tomorrow on with that doctor instead, and tell me its day and "
        "time.",
        slot.day,
        slot.start,
    )
    return True


def _was_seen(script: Script, prescription: Record) -> bool:
    """Whether the patient was ever at the doctor who wrote the prescription."""
    return any(
        visit["status"] == "done"
        and visit["doctor"] == prescription["doctor"]
        and visit["patient"] == prescription["patient"]
        for visit in script.every("appointments")
    )


def _harms(script: Script, prescription: Record) -> bool:
    """Whether the patient is allergic to the medicine."""
    allergies = script.record("patients", prescription["patient"])["allergies"]
    substances = script.record("medicines", prescription["medicine"])["substances"]
    return bool(set(allergies) & set(substances))
