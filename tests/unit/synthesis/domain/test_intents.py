"""What users come with: each thing once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.synthesis.domain.making import PLAN, kinds, workshop
from tests.unit.synthesis.domain.shop import shop

from toolorchestra.synthesis.domain.intents import name_intents, request, take_intent
from toolorchestra.synthesis.domain.subjects import Subject
from toolorchestra.synthesis.domain.workshop import NothingUsable

TWO = replace(
    PLAN,
    subjects=(Subject(name="orders", description="x"), Subject(name="money", description="y")),
)


@pytest.mark.parametrize("item", [3, "", "  ", None, ["x"], "x" * 601])
def test_what_is_no_sentence_is_not_taken(item):
    with pytest.raises(ValueError, match=r"^intents\[0\]: "):
        take_intent(item, "intents[0]")


def test_the_writer_sees_rules_and_functions():
    text = request(PLAN, shop(), TWO.subjects[0], 4)
    assert "Orders take what is in stock." in text and '"name": "place_order"' in text
    assert text.endswith("Subject: orders: x\nName 4 intents.")


async def test_the_same_intent_under_two_subjects_is_taken_once():
    shop_, written = workshop(
        {"intents": ["Buy  a\nsaw.", "Give it back.", "One too many."]},
        {"intents": ["Pay.", "BUY A SAW."]},
        intents=2,
    )
    found = await name_intents(shop_, TWO, shop())
    assert [(one.place, one.text) for one in found] == [
        ("orders-1", "Buy a saw."),
        ("orders-2", "Give it back."),
        ("money-1", "Pay."),
    ]
    assert kinds(shop_) == [("money.intents[1]", "duplicate")]
    assert len(written.lines("intents.jsonl")) == 3


async def test_without_any_intent_the_run_ends():
    shop_, _ = workshop(*["No."] * 3)
    with pytest.raises(NothingUsable, match="^intents: none can be used"):
        await name_intents(shop_, PLAN, shop())
    assert kinds(shop_) == [("loans", "no usable reply")]
