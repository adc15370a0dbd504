import json

import pytest

from toolorchestra.domain.environment import Environment
from toolorchestra.domain.load import load_shipped

_SCAN = {
    "patient_id": "P001",
    "doctor_id": "D02",
    "service_id": "S06",
}  # a heart scan takes an hour
_CHECK = {"patient_id": "P001", "doctor_id": "D02", "service_id": "S01"}  # half an hour, any room
_FRIDAY = "2032-03-12"


@pytest.fixture(scope="module")
def clinic():
    return load_shipped("clinic")


@pytest.fixture
def desk(clinic):
    """A small stage: no appointments, invoices or waiting; D02 and D09 work all week until 15:00.

    It is Tuesday, 2032-03-09, 10:00.
    """
    database = clinic.database.fresh()
    for collection in ("appointments", "waiting", "invoices"):
        for key in list(database.records[collection]):
            database.remove(collection, key)
    weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    for doctor in ("D02", "D09"):
        hours = {"opens": "09:00", "closes": "15:00"}
        database.update("doctors", doctor, weekdays=weekdays, leave=[], **hours)
    return Environment(database, clinic.functions)


def _fails(desk, reason, name, /, **arguments):
    outcome = desk.call(name, arguments)
    assert not outcome.is_ok and reason in outcome.content, outcome.content


def _works(desk, name, /, **arguments):
    outcome = desk.call(name, arguments)
    assert outcome.is_ok, outcome.content
    try:
        return json.loads(outcome.content)
    except ValueError:
        return outcome.content


def _book(desk, who=_CHECK, day=_FRIDAY, start="09:00", room_id="R1"):
    booked = _works(desk, "book_appointment", **who, day=day, start=start, room_id=room_id)
    return booked["appointment_id"]


def _invoice(desk, key, amount, due_on="2032-03-08"):
    fields = {"reason": "check-up", "issued_on": "2032-02-01", "due_on": due_on}
    money = {"amount": amount, "covered": "10.00", "paid": "5.00"}
    desk.database.add("invoices", {"invoice_id": key, "patient": "P001", **fields, **money})


@pytest.mark.parametrize(
    ("who", "start", "room_id", "reason"),
    [
        ({"doctor_id": "D02", "patient_id": "P002"}, "09:30", "R5", "doctor D02 has another"),
        ({"doctor_id": "D09", "patient_id": "P001"}, "09:30", "R5", "patient P001 has another"),
        ({"doctor_id": "D09", "patient_id": "P002"}, "09:30", "R4", "room R4 has another"),
        ({"doctor_id": "D02", "patient_id": "P002"}, "10:00", "R4", None),
        ({"doctor_id": "D09", "patient_id": "P002"}, "09:30", "R5", None),
    ],
)
def test_nobody_and_no_room_is_booked_twice_at_a_time(desk, who, start, room_id, reason):
    _book(desk, _SCAN, room_id="R4")  # from 9:00 to 10:00
    call = {**who, "service_id": "S01", "day": _FRIDAY, "start": start, "room_id": room_id}
    if reason is None:
        _works(desk, "book_appointment", **call)
    else:
        _fails(desk, reason, "book_appointment", **call)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"start": "9:30"}, 'start: expected a time on the half hour such as "09:30"'),
        ({"start": "09:45"}, "on the half hour"),
        ({"start": "25:00"}, "on the half hour"),
        ({"start": "08:30"}, "works from 09:00 to 15:00"),
        ({"start": "14:30"}, "works from 09:00 to 15:00"),
        ({"day": "2032-03-13"}, "does not work on a Saturday"),
        ({"day": "2032-03-24"}, "appointments are given until 2032-03-23"),
        ({"day": "2032-03-09", "start": "10:00"}, "2032-03-09 10:00 is past"),
        ({"room_id": "R1"}, "room R1 lacks ultrasound"),
        ({"room_id": "R99"}, "there is no 'R99' in rooms"),
        ({"doctor_id": "D03"}, "does not offer the service heart scan"),
        ({"patient_id": "P999"}, "there is no 'P999' in patients"),
        ({"day": "Friday"}, "day: expected a date"),
    ],
)
def test_an_appointment_that_the_rules_forbid_is_refused_with_the_reason(desk, changes, reason):
    call = {**_SCAN, "day": _FRIDAY, "start": "09:00", "room_id": "R4"}
    _fails(desk, reason, "book_appointment", **{**call, **changes})
    assert desk.database.count("appointments") == 0


def test_slots_are_those_that_can_be_booked_with_the_rooms_in_order(desk):
    _book(desk, _SCAN, start="10:00", room_id="R4")
    other = {**_SCAN, "patient_id": "P002"}
    slots = _works(desk, "find_slots", **other, day=_FRIDAY)
    # Six hours less one, an hour each, on the half hour: 9:00, then 11:00 to 14:00.
    starts = ["09:00", "11:00", "11:30", "12:00", "12:30", "13:00", "13:30", "14:00"]
    assert [slot["start"] for slot in slots] == starts
    assert slots[0]["rooms"] == ["R4", "R5", "R7"]
    for slot in slots:
        for room in slot["rooms"]:
            copy = desk.branch()
            _book(copy, other, start=slot["start"], room_id=room)
    assert _works(desk, "find_slots", **other, day="2032-03-13") == []


@pytest.mark.parametrize(
    ("day", "start", "fee"),
    [
        ("2032-03-10", "09:30", "27.50"),
        ("2032-03-10", "10:00", "0.00"),  # 24 hours are not less than 24 hours
        (_FRIDAY, "09:00", "0.00"),
    ],
)
def test_a_patient_who_cancels_late_pays_a_fee_and_a_doctor_never(desk, day, start, fee):
    visit = _book(desk, day=day, start=start)
    doctors = desk.branch()
    call = {"appointment_id": visit}
    cancelled = _works(doctors, "cancel_appointment", **call, asked_by="doctor")
    assert cancelled == {"fee": "0.00"} and doctors.database.count("invoices") == 0
    assert _works(desk, "cancel_appointment", **call, asked_by="patient") == {"fee": fee}
    assert [one["amount"] for one in desk.database.where("invoices")] == [fee] * (fee != "0.00")
    _fails(desk, "is cancelled", "cancel_appointment", **call, asked_by="patient")


def test_a_patient_does_not_move_what_is_near_and_a_doctor_may(desk):
    visit = _book(desk, day="2032-03-10", start="09:30")
    call = {"appointment_id": visit, "day": _FRIDAY, "start": "09:00", "room_id": "R2"}
    _fails(desk, "less than 24 hours away", "move_appointment", **call, asked_by="patient")
    _fails(desk, "one of patient, doctor", "move_appointment", **call, asked_by="clinic")
    moved = _works(desk, "move_appointment", **call, asked_by="doctor", doctor_id="D09")
    assert (moved["doctor"], moved["day"], moved["end"]) == ("D09", _FRIDAY, "09:30")


def test_an_appointment_may_move_into_a_part_of_its_own_time(desk):
    visit = _book(desk, _SCAN, room_id="R4")
    call = {"appointment_id": visit, "day": _FRIDAY, "start": "09:30", "room_id": "R4"}
    assert _works(desk, "move_appointment", **call, asked_by="patient")["end"] == "10:30"


def test_waiting_needs_an_appointment_and_ends_with_an_earlier_one(desk):
    _fails(desk, "has no appointment for the service", "join_waiting_list", **_CHECK)
    visit = _book(desk, day=_FRIDAY)
    _works(desk, "join_waiting_list", **_CHECK)
    _fails(desk, "is waiting already", "join_waiting_list", **_CHECK)
    call = {"appointment_id": visit, "start": "09:00", "room_id": "R1", "asked_by": "patient"}
    _works(desk, "move_appointment", **call, day="2032-03-15")
    waiting = _works(desk, "list_waiting", doctor_id="D02", service_id="S01")
    assert [entry["patient"] for entry in waiting] == ["P001"]
    _works(desk, "move_appointment", **call, day="2032-03-11")
    assert _works(desk, "list_waiting", doctor_id="D02", service_id="S01") == []
    _fails(desk, "is not waiting for this", "leave_waiting_list", **_CHECK)


def test_a_cancellation_ends_the_waiting(desk):
    visit = _book(desk)
    _works(desk, "join_waiting_list", **_CHECK)
    _works(desk, "cancel_appointment", appointment_id=visit, asked_by="doctor")
    assert desk.database.count("waiting") == 0


def test_leave_needs_an_empty_day_and_then_keeps_it_empty(desk):
    visit = _book(desk)
    _fails(desk, "has 1 appointments on", "take_leave", doctor_id="D02", day=_FRIDAY)
    _works(desk, "cancel_appointment", appointment_id=visit, asked_by="doctor")
    _works(desk, "take_leave", doctor_id="D02", day=_FRIDAY)
    call = {**_CHECK, "day": _FRIDAY, "start": "09:00", "room_id": "R1"}
    _fails(desk, "is on leave on 2032-03-12", "book_appointment", **call)
    _fails(desk, "a day of leave already", "take_leave", doctor_id="D02", day=_FRIDAY)


def test_who_owes_too_much_for_too_long_gets_no_appointment_until_it_is_paid(desk):
    _invoice(desk, "I1", "55.00")  # 40.00 of it open: as much as is allowed
    call = {**_CHECK, "day": _FRIDAY, "start": "09:00", "room_id": "R1"}
    _works(desk.branch(), "book_appointment", **call)
    _invoice(desk, "I2", "15.01")
    _invoice(desk, "I3", "99.00", due_on="2032-03-09")  # due today is not overdue
    _fails(desk, "come to 40.01, more than the 40.00", "book_appointment", **call)
    assert _works(desk, "pay_invoice", invoice_id="I2", amount="0.01") == {"open": "0.00"}
    _works(desk, "book_appointment", **call)


@pytest.mark.parametrize("amount", ["0", "-1", "40.01"])
def test_nobody_pays_nothing_or_more_than_is_open(desk, amount):
    _invoice(desk, "I1", "55.00")
    _fails(desk, "40.00 of the invoice is open", "pay_invoice", invoice_id="I1", amount=amount)


@pytest.fixture
def prescription(desk):
    """P001's, by D02, who saw P001 as long ago as is allowed: 120 days."""
    key = desk.database.where("prescriptions", patient="P001")[0]["prescription_id"]
    changes = {"doctor": "D02", "renewals_left": 1, "status": "active", "medicine": "X01"}
    desk.database.update("prescriptions", key, **changes)
    desk.database.update("medicines", "X01", substances=["iodine", "latex"])
    desk.database.update("patients", "P001", allergies=["codeine"])
    visit = {"patient": "P001", "doctor": "D02", "service": "S01", "room": "R1"}
    visit |= {"day": "2031-11-10", "start": "09:00", "end": "09:30", "status": "done"}
    desk.database.add("appointments", {"appointment_id": "A1", **visit})
    return key


def test_a_prescription_is_renewed_once_for_each_renewal_that_is_left(desk, prescription):
    call = {"prescription_id": prescription, "doctor_id": "D02"}
    renewed = _works(desk, "renew_prescription", **call)
    assert renewed == {"valid_until": "2032-06-07", "renewals_left": 0}  # 90 days from today
    _fails(desk, "no renewal of the prescription is left", "renew_prescription", **call)


@pytest.mark.parametrize(
    ("place", "changes", "reason"),
    [
        (("prescriptions", None), {"doctor": "D09"}, "who wrote the prescription, renews it"),
        (("appointments", "A1"), {"day": "2031-11-09"}, "has not seen the patient in the last 120"),
        (("appointments", "A1"), {"doctor": "D09"}, "has not seen the patient"),
        (("appointments", "A1"), {"status": "booked"}, "has not seen the patient"),
        (("patients", "P001"), {"allergies": ["latex"]}, "is allergic to latex"),
        (("prescriptions", None), {"status": "stopped"}, "is stopped"),
    ],
)
def test_a_renewal_that_the_rules_forbid_is_refused(desk, prescription, place, changes, reason):
    collection, key = place
    desk.database.update(collection, key or prescription, **changes)
    call = {"prescription_id": prescription, "doctor_id": "D02"}
    _fails(desk, reason, "renew_prescription", **call)


def test_what_is_stopped_stays_stopped(desk, prescription):
    _works(desk, "stop_prescription", prescription_id=prescription)
    _fails(desk, "is stopped", "stop_prescription", prescription_id=prescription)


def test_people_and_what_is_theirs_are_found(desk, clinic):
    name = clinic.database.records["patients"]["P001"]["name"]
    assert _works(desk, "find_patient", name=f" {name.upper()} ")["patient_id"] == "P001"
    _fails(desk, "nobody in patients is called 'Nobody'", "find_patient", name="Nobody")
    _book(desk, start="11:00")
    _book(desk, start="09:00")
    day = _works(desk, "get_schedule", doctor_id="D02", day=_FRIDAY)
    assert [(one["start"], one["patient_name"]) for one in day] == [
        ("09:00", name),
        ("11:00", name),
    ]
    own = _works(desk, "list_appointments", patient_id="P001")
    assert [one["service_name"] for one in own] == ["check-up", "check-up"]
    offering = {one["doctor_id"] for one in _works(desk, "list_doctors", service_id="S06")}
    assert offering == {"D02", "D05", "D06", "D10"}
    assert len(_works(desk, "list_doctors")) == 10
    wrong = {"patient_id": "P001", "doctor_ids": ["D02", "D77"]}
    _fails(desk, "there is no 'D77' in doctors", "set_preferred_doctors", **wrong)


def test_what_is_past_is_neither_moved_nor_cancelled(desk):
    visit = _book(desk)
    desk.database.update("appointments", visit, day="2032-03-09", start="10:00", end="10:30")
    _fails(desk, "has begun already", "cancel_appointment", appointment_id=visit, asked_by="doctor")
