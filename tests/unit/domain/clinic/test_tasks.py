"""Whether the golden actions keep to those rules of the policy that no function enforces."""

import datetime

import pytest

from toolorchestra.domain.clinic.appointments import find_slots
from toolorchestra.domain.clinic.rules import can_hold, clash, hours_problem
from toolorchestra.domain.load import load_shipped


@pytest.fixture(scope="module")
def clinic():
    return load_shipped("clinic")


def _rooms(environment, action):
    """The rooms that are free for a golden booking, or for a patient's moving, at its time."""
    arguments = dict(action.arguments)
    if action.name == "move_appointment":
        visit = environment.database.records["appointments"][arguments["appointment_id"]]
        arguments |= {f"{name}_id": visit[name] for name in ("patient", "doctor", "service")}
    names = ("patient_id", "doctor_id", "service_id")
    slots = find_slots(
        environment.database.fresh(),
        **{name: arguments[name] for name in names},
        day=datetime.date.fromisoformat(arguments["day"]),
    )
    return {slot["start"]: slot["rooms"] for slot in slots}[arguments["start"]]


def test_the_first_of_the_free_rooms_is_taken(clinic):
    num_checked = 0
    for task in clinic.tasks.values():
        environment = clinic.begin(task)
        for action in task.actions:
            is_move = (
                action.name == "move_appointment" and action.arguments["asked_by"] == "patient"
            )
            if is_move or action.name == "book_appointment":
                assert action.arguments["room_id"] == _rooms(environment, action)[0], task.id
                num_checked += 1
            environment.call(action.name, action.arguments)
    assert num_checked >= 30


def test_the_appointments_that_ship_keep_to_the_rules(clinic):
    records = clinic.database.records
    booked = [one for one in records["appointments"].values() if one["status"] == "booked"]
    for number, visit in enumerate(booked):
        doctor, service = records["doctors"][visit["doctor"]], records["services"][visit["service"]]
        day = datetime.date.fromisoformat(visit["day"])
        start = visit["start"]
        assert hours_problem(records["desk"]["main"], doctor, service, day, start) is None
        assert can_hold(records["rooms"][visit["room"]], service)
        assert clash(visit, booked[:number]) is None


def test_fees_and_chains_are_asked_for(clinic):
    tasks = clinic.tasks.values()
    calls = [[action.name for action in task.actions] for task in tasks]
    assert sum("27.50" in task.communicate for task in tasks) >= 5  # the fee of a late cancellation
    assert max(names.count("move_appointment") for names in calls) >= 3
    assert any("pay_invoice" in names and "book_appointment" in names for names in calls)
