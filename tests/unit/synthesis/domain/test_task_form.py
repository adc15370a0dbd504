"""Tasks that a model writes: golden actions have to hold, and doing nothing must not do."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.shop import shop

from toolorchestra.synthesis.domain.task_form import as_form, take_task
from toolorchestra.synthesis.listed import Unfit


def call(name, **arguments):
    return {"name": name, "arguments": json.dumps(arguments)}


def form(*actions, communicate=(), instruction="Please.", **changes):
    return {
        "instruction": instruction, "scenario": "", "steps": [], "actions": list(actions),
        "communicate": list(communicate),
    } | changes  # fmt: skip


ORDER = call("place_order", customer_id="C1", items=["P1"], stops=["Sarn"])


def take(item):
    return take_task(shop(), item, "tasks[0]", difficulty=2)


def test_a_task_is_taken_with_its_actions_and_steps():
    steps = [{"say": "I want P1.", "cues": []}, {"say": "To Sarn.", "cues": ["where"]}]
    item = form(ORDER, communicate=["O2"], scenario="You are\nC1.", steps=steps)
    task = take(item)
    assert (task.difficulty, task.communicate, task.scenario) == (2, ("O2",), "You are C1.")
    assert task.actions[0].arguments == {"customer_id": "C1", "items": ["P1"], "stops": ["Sarn"]}
    assert task.steps[1].cues == ("where",)
    assert as_form(task) == {**item, "scenario": "You are C1."}


@pytest.mark.parametrize(
    ("item", "kind", "reason"),
    [
        (form(), "solved by doing nothing", "doing nothing solves it"),
        (form(call("count_stock", size="large")), "solved by doing nothing", "doing nothing"),
        (
            form(
                call("count_stock", size="large"),
                communicate=["42"],
                instruction="Are there 42 large ones?",
            ),
            "solved by repeating it",
            "is solved by repeating it",
        ),
        (
            form(call("place_order", customer_id="C1", items=["P3"], stops=[])),
            "golden action fails",
            "golden action 1, place_order, fails: P3 is out of stock",
        ),
        (
            form(ORDER, call("credit", customer_id="C1")),
            "golden action fails",
            "amount: is missing",
        ),
        (
            form(call("credit", customer_id="C9", amount="1")),
            "golden action fails",
            "there is no 'C9' in customers",
        ),
    ],
)
def test_a_task_that_cannot_be_judged_is_not_taken(item, kind, reason):
    with pytest.raises(Unfit) as caught:
        take(item)
    assert caught.value.kind == kind and reason in str(caught.value)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("Order a saw.", "expected an object"),
        ({"instruction": "x"}, "key 'scenario' is missing"),
        (form(call("steal")), "actions[0]: there is no function 'steal'"),
        (form({"name": "credit", "arguments": "C1, 5"}), "actions[0].arguments: is no JSON text"),
        (form({"name": "credit", "arguments": "[1]"}), "actions[0].arguments: is no object"),
        (form({"name": "credit", "arguments": '{"a": NaN}'}), "arguments: is no JSON text"),
        (form({"name": "credit", "arguments": {}}), "expected a string"),
        (form(ORDER, instruction=" "), "needs an id and an instruction"),
        (form(ORDER, communicate=["?!"]), "says nothing that could be looked for"),
    ],
)
def test_what_is_no_task_is_told(item, reason):
    with pytest.raises(ValueError) as caught:
        take(item)
    assert not isinstance(caught.value, Unfit) and reason in str(caught.value)


def test_a_call_that_changes_nothing_is_still_something_to_do():
    same = call("set_tags", customer_id="C1", tags=["kind", "new"])
    assert take(form(same)).actions
