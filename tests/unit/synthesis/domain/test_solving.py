"""A model plays tasks: what it does is judged as a policy is, and the first success ends it."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.making import kinds, workshop
from tests.unit.synthesis.domain.shop import shop
from tests.unit.synthesis.domain.test_task_form import call

from toolorchestra.synthesis.domain.solving import read, solve
from toolorchestra.synthesis.domain.workshop import NothingUsable

STOCK = shop().tasks["stock"]
ORDER = shop().tasks["order"]


def turn(*calls, say="", is_done=True):
    return {"calls": list(calls), "say": say, "is_done": is_done}


RIGHT = turn(call("count_stock", size="large"), say="There are 42.")
WRONG = turn(say="There are 7.")


async def tried(*attempts, tasks=(STOCK,), max_turns=30):
    shop_, written = workshop(solver=attempts, attempts=len(attempts), max_turns=max_turns)
    try:
        solved = await solve(shop_, shop(), list(tasks))
    except NothingUsable:
        solved = []
    return [one.id for one in solved], written.lines("attempts.jsonl"), shop_


async def test_the_first_success_ends_the_attempts():
    solved, tries, shop_ = await tried([WRONG], [RIGHT], [RIGHT])
    assert solved == ["stock"] and not kinds(shop_)
    assert [(one["number"], one["is_solved"]) for one in tries] == [(1, False), (2, True)]
    assert "not said: 42" in tries[0]["why"] and tries[1]["why"] == "solved"
    assert tries[1]["num_calls"] == tries[1]["num_turns"] == 1


async def test_what_nobody_solves_is_rejected_and_all_attempts_are_on_record():
    solved, tries, shop_ = await tried(*[[WRONG]] * 8)
    assert not solved and len(tries) == 8
    assert kinds(shop_) == [("stock", "unsolved")]
    assert shop_.journal.rejections[0].reason.startswith("not solved in 8 attempts; the last: ")


async def test_results_are_seen_in_the_next_turn_and_the_database_is_judged():
    golden = [{"name": one.name, "arguments": json.dumps(one.arguments)} for one in ORDER.actions]
    look = turn(call("get_customer", customer_id="C9"), call("fly"), golden[0], is_done=False)
    shop_, _ = workshop(solver=[[look, turn(golden[1], say="10.10")]], attempts=1)
    assert [one.id for one in await solve(shop_, shop(), [ORDER])] == ["order"]
    seen = shop_.solver_at(1).model.asked[1][0][-1].content.split("\n")
    assert seen[0] == "get_customer fails: \"there is no 'C9' in customers\""
    assert seen[1].startswith("fly fails: ") and seen[2].startswith("place_order gives: ")


async def test_attempts_do_not_see_what_earlier_ones_did():
    golden = [{"name": one.name, "arguments": json.dumps(one.arguments)} for one in ORDER.actions]
    half, whole = turn(golden[0], say="10.10"), turn(*golden, say="10.10")
    solved, tries, _ = await tried([half], [whole], tasks=[ORDER])
    assert solved == ["order"] and [one["is_solved"] for one in tries] == [False, True]


async def test_a_solver_that_goes_on_for_ever_or_talks_prose_is_stopped():
    on = turn(is_done=False)
    _, tries, _ = await tried([on, on], ["Well."] * 3, max_turns=2)
    assert tries[0]["why"] == "not done after 2 turns"
    assert tries[1]["why"].startswith("no usable reply: the reply is no JSON")


async def test_a_function_that_breaks_ends_the_attempt_alone():
    broken = turn(
        call("set_tags", customer_id="C1", tags=["x"]),
        call("place_order", customer_id="C7", items=[], stops=[]),
    )
    solved, tries, _ = await tried([broken], [RIGHT])
    assert solved == ["stock"] and tries[0]["why"].startswith("broken function: place_order")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (turn() | {"calls": [{"name": "x"}]}, "key 'arguments' is missing"),
        (turn({"name": "x", "arguments": "{"}), "calls[0].arguments: is no JSON text"),
        (turn(*[call("x")] * 21), "calls: 21 at once; use up to 20"),
        (turn(is_done="yes"), "expected true or false"),
        ([], "expected an object"),
    ],
)
def test_what_is_no_turn_is_told(value, reason):
    reading = read(json.dumps(value))
    assert reading.value is None and reason in reading.fault
