"""Tasks of intents, and harder ones made of these; no two alike."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.making import kinds, workshop
from tests.unit.synthesis.domain.shop import shop
from tests.unit.synthesis.domain.test_task_form import call, form

from toolorchestra.synthesis.domain.excerpt import excerpt
from toolorchestra.synthesis.domain.intents import Intent
from toolorchestra.synthesis.domain.tasks import Admitted, evolve, write_tasks
from toolorchestra.synthesis.domain.workshop import NothingUsable

INTENTS = [Intent(subject="orders", number=n, text=f"Order {n}.") for n in (1, 2)]


def credit(amount, words=None, *more):
    return form(
        call("credit", customer_id="C1", amount=amount),
        *more,
        instruction=words or f"Add {amount}.",
    )


async def test_no_two_tasks_have_the_same_actions_or_the_same_words():
    shop_, written = workshop(
        {"tasks": [credit("1"), credit("1", "One more, please.")]},
        {"tasks": [credit("2", "ADD  1."), credit("3"), credit("4")]},
        tasks=2,
    )
    admitted = Admitted("desk")
    await write_tasks(shop_, shop(), INTENTS, admitted)
    assert [(one.id, one.instruction) for one in admitted.tasks] == [
        ("desk-0001", "Add 1."),
        ("desk-0002", "Add 3."),
    ]
    assert kinds(shop_) == [("orders-1.tasks[1]", "duplicate"), ("orders-2.tasks[0]", "duplicate")]
    assert "words are those of orders-1.tasks[0]" in shop_.journal.rejections[1].reason
    assert [one["difficulty"] for one in written.lines("tasks.jsonl")] == [1, 1]


async def test_a_golden_call_that_fails_is_told_and_may_be_mended_twice():
    bad = form(call("credit", customer_id="C9", amount="1"))
    shop_, _ = workshop({"tasks": [bad]}, {"tasks": [bad]}, {"tasks": [credit("1")]})
    admitted = Admitted("desk")
    await write_tasks(shop_, shop(), INTENTS[:1], admitted)
    assert len(admitted.tasks) == 1 and not kinds(shop_)
    assert "there is no 'C9' in customers" in shop_.writer.model.asked[1][0][-1].content


async def test_without_any_task_the_run_ends():
    shop_, _ = workshop(*["No."] * 3)
    with pytest.raises(NothingUsable, match="^tasks: none can be used"):
        await write_tasks(shop_, shop(), INTENTS[:1], Admitted("desk"))
    assert kinds(shop_) == [("orders-1", "no usable reply")]


async def test_each_round_makes_the_newest_tasks_harder():
    more = call("count_stock", size="small")
    shop_, written = workshop(
        {"tasks": [credit("1")]},
        {"tasks": [credit("5", None, more), credit("6")]},  # one is asked for
        {"tasks": [credit("7", None, more, more)]},
        evolutions=2,
    )
    admitted = Admitted("desk")
    await write_tasks(shop_, shop(), INTENTS[:1], admitted)
    await evolve(shop_, shop(), admitted)
    assert [(one.id, one.difficulty) for one in admitted.tasks] == [
        ("desk-0001", 1),
        ("desk-0002", 2),
        ("desk-0003", 3),
    ]
    assert len(written.lines("evolution.jsonl")) == 2
    shown = shop_.writer.model.asked[2][0][1].content.rpartition("The task:\n")[2]
    assert json.loads(shown) == credit("5", None, more)


async def test_without_rounds_nobody_is_asked_for_harder_tasks():
    shop_, written = workshop({"tasks": [credit("1")]}, evolutions=0)
    admitted = Admitted("desk")
    await write_tasks(shop_, shop(), INTENTS[:1], admitted)
    await evolve(shop_, shop(), admitted)
    assert len(admitted.tasks) == 1 and written.files["evolution.jsonl"] == ""


def test_an_excerpt_holds_some_records_and_all_that_they_refer_to():
    database = shop().database
    lines = [json.loads(line) for line in excerpt(database, seed="a", num_records=1).split("\n")]
    found = {(name, next(iter(record.values()))) for line in lines for name, record in line.items()}
    assert {("orders", "O1"), ("customers", "C1"), ("products", "P1")} <= found
    assert len({name for name, _ in found}) == 3 and len(found) <= 5
    texts = {excerpt(database, seed=str(n), num_records=1) for n in range(20)}
    assert len(texts) > 1 and excerpt(database, seed="a", num_records=1) in {
        excerpt(database, seed="a", num_records=1)
    }
