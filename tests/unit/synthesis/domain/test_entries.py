"""Records that a model writes: what is asked for in which order, and what is not taken."""

from __future__ import annotations

import pytest
from tests.unit.synthesis.domain.making import (
    PLAN,
    collection,
    design_of,
    field,
    kinds,
    loan,
    tool,
    workshop,
)

from toolorchestra.synthesis.domain.entries import (
    Order,
    fill,
    filling_order,
    orders_for,
    request,
    take_record,
)
from toolorchestra.synthesis.domain.record_form import record_form
from toolorchestra.synthesis.listed import Unfit


def test_what_others_refer_to_is_filled_first():
    a = collection("a", field("bs", "list", of="reference", to="b"))
    b = collection("b", field("c", "reference", to="c"))
    c = collection("c", field("up", "reference", to="c", optional=True))
    assert filling_order(design_of(a, b, c, collection("d")).schema) == [["c", "d"], ["b"], ["a"]]


def test_a_circle_begins_where_a_reference_may_be_left_out():
    a = collection("a", field("b", "reference", to="b"))
    b = collection("b", field("a", "reference", to="a", optional=True))
    assert filling_order(design_of(a, b).schema) == [["b"], ["a"]]


def test_a_collection_is_asked_for_in_batches():
    orders = orders_for("a", 7, 3)
    assert [(one.number, one.first, one.size) for one in orders] == [
        (1, 1, 3),
        (2, 4, 3),
        (3, 7, 1),
    ]
    assert {one.num_orders for one in orders} == {3} and orders_for("a", 0, 3) == []


def test_many_targets_are_shown_in_turn():
    design = design_of()
    records = {"tools": {f"T{n}": tool(f"T{n}") for n in range(100)}}

    def shown(number):
        order = Order(collection="loans", number=number, num_orders=2, first=1, size=1)
        text = request(PLAN, design, records, order)
        return {key for key in records["tools"] if f'"id": "{key}"' in text}

    assert len(shown(1)) == len(shown(2)) == 60
    assert shown(1) | shown(2) == records["tools"].keys()


def test_the_form_of_a_record_names_every_field_and_lets_optional_ones_be_null():
    design = design_of(
        collection(
            "a",
            field("n", "whole"),
            field("ok", "yes_no", optional=True),
            field("kinds", "list", of="choice", choices=["x"]),
        )
    )
    assert record_form(design.schema.collections["a"].fields) == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "n": {"type": "integer"},
            "ok": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "kinds": {"type": "array", "items": {"type": "string", "enum": ["x"]}},
        },
        "required": ["id", "n", "ok", "kinds"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("item", "kind", "reason"),
    [
        ("a loan", "form", "expected an object"),
        (loan("L1", "T1", colour="red"), "form", "records[0].colour: is unknown"),
        ({"id": "L1"}, "form", "records[0].tool: is missing"),
        (loan("L1", "T9"), "reference", "refers to 'T9', not in tools"),
        (loan(" ", "T1"), "form", "an empty key"),
        (loan("L1", 1), "form", "expected the key of a record"),
    ],
)
def test_a_record_that_the_schema_does_not_allow_is_not_taken(item, kind, reason):
    records = {"tools": {"T1": tool("T1")}}
    with pytest.raises(Unfit) as caught:
        take_record(design_of().schema, records, "loans", item, "records[0]")
    assert caught.value.kind == kind and reason in str(caught.value)


def test_what_is_null_is_left_out():
    records = {"tools": {"T1": tool("T1")}}
    taken = take_record(design_of().schema, records, "loans", loan("L1", "T1", note=None), "x")
    assert taken == loan("L1", "T1")


async def test_good_records_stay_and_bad_ones_are_repaired_or_rejected():
    shop, written = workshop(
        {"records": [tool("T1"), tool("T1"), tool("T2", price=3)]},  # tools, the first request
        {"records": [tool("T1"), tool("T2"), tool("T3")]},  # more than was asked for
        {"records": [loan("L1", "T1"), loan("L2", "T3")]},  # loans, the first request
        {"records": [loan("L1", "T1"), loan("L2", "T8")]},
        {"records": [loan("L1", "T2"), loan("L3", "T8")]},
        {"records": [loan("L1", "T2")]},  # the second
        batch_size=2,
    )
    records = await fill(shop, PLAN, design_of())
    assert list(records["tools"]) == ["T1", "T2"]
    assert records["loans"] == {"L1": loan("L1", "T2")}
    assert kinds(shop) == [("loans-1.records[1]", "reference"), ("loans-2.records[0]", "duplicate")]
    assert len(written.lines("entries.jsonl")) == 3
    told = shop.writer.model.asked[1][0][-1].content
    assert "records[1]: records[1].id: stands twice in the reply" in told
    assert "records[2].price: expected money as decimal text" in told


async def test_a_request_without_a_usable_reply_leaves_the_others():
    shop, _ = workshop("No.", "No.", "No.", {"records": [tool("T9")]}, batch_size=1)
    made = design_of(collection("tools", field("name", "text"), field("price", "money")))
    records = await fill(shop, PLAN, made)
    assert list(records["tools"]) == ["T9"]
    assert kinds(shop) == [("tools-1", "no usable reply")]
