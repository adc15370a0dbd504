"""Planted mutations of a correct rollout, each with the verdict that it deserves."""

import pytest

from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import Action, DomainTask, InitialChange
from toolorchestra.domain.verify import verify

_WHO = {"patient": "P001", "doctor": "D09", "service": "S01"}
_TIMES = {"A1": ("2032-03-11", "09:00", "09:30"), "A2": ("2032-03-12", "09:00", "09:30")}


def _changes(clinic):
    """A stage: P001 has two check-ups and a bill; nobody else has an appointment."""
    for collection in ("appointments", "invoices", "waiting"):
        for key in clinic.database.records[collection]:
            yield InitialChange(collection=collection, key=key, is_removed=True)
    for key, (day, start, end) in _TIMES.items():
        fields = {**_WHO, "room": "R1", "day": day, "start": start, "end": end}
        fields["status"] = "booked"
        yield InitialChange(collection="appointments", key=key, fields=fields)
    weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    hours = {"weekdays": weekdays, "opens": "09:00", "closes": "15:00", "leave": []}
    yield InitialChange(collection="doctors", key="D09", fields=hours)
    bill = {"patient": "P001", "reason": "check-up", "issued_on": "2032-02-01"}
    bill |= {"due_on": "2032-04-01", "amount": "48.60", "covered": "24.30", "paid": "0.00"}
    yield InitialChange(collection="invoices", key="I1", fields=bill)


def _move(key, day, start, room_id="R1"):
    arguments = {"appointment_id": key, "day": day, "start": start, "room_id": room_id}
    return Action(name="move_appointment", arguments={**arguments, "asked_by": "patient"})


def _call(name, **arguments):
    return Action(name=name, arguments={"patient_id": "P001", **arguments})


def _pay(amount):
    return Action(name="pay_invoice", arguments={"invoice_id": "I1", "amount": amount})


_AWAY, _INTO = _move("A1", "2032-03-15", "09:00"), _move("A2", "2032-03-11", "09:00")
_MOVES = [_AWAY, _INTO]
_ALLERGIES = _call("set_allergies", substances=["latex", "iodine"])
_DOCTORS = _call("set_preferred_doctors", doctor_ids=["D09", "D02", "D05"])
_MEDICINE = Action(name="get_medicine", arguments={"medicine_id": "X03"})
_REST = [_ALLERGIES, _DOCTORS, _MEDICINE, _pay("4.30")]
_SAID = "20.00 of the invoice is left."


@pytest.fixture(scope="module")
def clinic():
    return load_shipped("clinic")


@pytest.fixture(scope="module")
def task(clinic):
    """A moves away, B moves to where A was; two lists change, a bill is paid in part."""
    return DomainTask(
        id="mutated",
        instruction="all of it",
        actions=(*_MOVES, *_REST),
        communicate=("20.00",),
        difficulty=5,
        changes=tuple(_changes(clinic)),
    )


_WHOLE = [*_MOVES, *_REST]
_MUTATIONS = {
    "nothing": (_WHOLE, _SAID, True),
    "the chain begun at its end": ([_INTO, _AWAY, *_REST], _SAID, False),
    "the chain begun at its end and then mended": ([_INTO, *_MOVES, *_REST], _SAID, True),
    "a chain by way of another time": (
        [_move("A2", "2032-03-16", "09:00"), *_MOVES, *_REST],
        _SAID,
        True,
    ),
    "the moves of another order, each to the other's time": (
        [_move("A2", "2032-03-15", "09:00"), *_REST],
        _SAID,
        False,
    ),
    "another room": (
        [_AWAY, _move("A2", "2032-03-11", "09:00", "R2"), *_REST],
        _SAID,
        False,
    ),
    "a later time": ([_move("A1", "2032-03-15", "09:30"), _INTO, *_REST], _SAID, False),
    "cancelled and booked anew instead of moved": (
        [
            Action(
                name="cancel_appointment", arguments={"appointment_id": "A1", "asked_by": "patient"}
            ),
            _call(
                "book_appointment",
                doctor_id="D09",
                service_id="S01",
                day="2032-03-15",
                start="09:00",
                room_id="R1",
            ),
            _INTO,
            *_REST,
        ],
        _SAID,
        False,
    ),
    "a double booking that is refused": (
        [
            *_WHOLE,
            _call(
                "book_appointment",
                doctor_id="D09",
                service_id="S01",
                day="2032-03-15",
                start="09:00",
                room_id="R2",
            ),
        ],
        _SAID,
        True,
    ),
    "an extra write": ([*_WHOLE, _call("change_phone", phone="0200 1")], _SAID, False),
    "a cent too much": ([*_MOVES, *_REST[:-1], _pay("4.31")], _SAID, False),
    "the same amount in two parts": (
        [*_MOVES, *_REST[:-1], _pay("4.00"), _pay("0.3")],
        _SAID,
        True,
    ),
    "a list without order reordered": (
        [*_MOVES, _call("set_allergies", substances=["iodine", "latex"]), *_REST[1:]],
        _SAID,
        True,
    ),
    "a list with an order reordered": (
        [
            *_MOVES,
            _ALLERGIES,
            _call("set_preferred_doctors", doctor_ids=["D02", "D09", "D05"]),
            *_REST[2:],
        ],
        _SAID,
        False,
    ),
    "a record not looked up": ([*_MOVES, _ALLERGIES, _DOCTORS, _pay("4.30")], _SAID, False),
    "a missing message": (_WHOLE, "All of it is done.", False),
    "the amount in other words": (_WHOLE, "Twenty are left.", True),
    "a number inside another number": (_WHOLE, "120.00 or 20.005 is left.", False),
}


@pytest.mark.parametrize("mutation", _MUTATIONS)
def test_a_mutation_gets_the_verdict_that_it_deserves(clinic, task, mutation):
    actions, message, is_solved = _MUTATIONS[mutation]
    verdict = verify(clinic, task, actions=actions, messages=[message])
    assert verdict.is_solved is is_solved, str(verdict)
    assert verdict.is_solved or "\n" in str(verdict)  # it says why
