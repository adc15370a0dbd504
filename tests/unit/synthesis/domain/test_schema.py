"""Schemas that a model writes: what they become, and what is refused."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.making import (
    PLAN,
    TOOLS,
    collection,
    design_of,
    field,
    kinds,
    workshop,
)

from toolorchestra.synthesis.domain.schema import DEMO, design, read, request, required_circle
from toolorchestra.synthesis.domain.workshop import NothingUsable


def test_a_form_becomes_the_value_of_a_schema_file_without_defaults():
    days = field("days", "list", of="choice", choices=["mon", "tue"], ordered=False)
    made = design_of(TOOLS[0], collection("hours", days, field("to", "reference", to="tools")))
    assert made.value["collections"]["hours"] == {
        "key": "id",
        "description": "",
        "fields": {
            "id": {"kind": "text"},
            "days": {
                "kind": "list",
                "ordered": False,
                "of": {"kind": "choice", "choices": ["mon", "tue"]},
            },
            "to": {"kind": "reference", "to": "tools"},
        },
    }
    assert made.num_records == {"tools": 2, "hours": 2}


def test_the_demonstration_is_of_the_form_that_it_shows():
    assert read(json.dumps(DEMO)).value is not None
    assert json.dumps(DEMO) in request("desk", PLAN)


@pytest.mark.parametrize(
    ("collections", "reason"),
    [
        ([], "a schema needs a collection"),
        ([TOOLS[1]], "refers to 'tools', which is no collection"),
        ([TOOLS[0], TOOLS[0]], "two collections have the same name"),
        ([collection("a", field("id", "text"))], "a: two fields have the same name"),
        ([collection("a", key="no")], "the key 'no' is no field"),
        ([collection("A")], "the name 'A' is not allowed"),
        ([collection("a", field("x", "float"))], "expected one of text"),
        ([collection("a", field("x", "choice"))], "a choice field needs 'choices'"),
        ([collection("a", field("x", "text", to="a"))], "a text field takes no 'to'"),
        ([collection("a", field("x", "list"))], "kind: expected one of text"),
        ([collection("a", num_records=-1)], "a.num_records: -1 is below 0"),
        ([collection("a", num_records=0)], "no collection has records"),
        (
            [collection("a", field("b", "reference", to="b")),
             collection("b", field("a", "reference", to="a"))],
            "references go round in a circle, a -> b -> a",
        ),
        ([{**collection("a"), "extra": 1}], "key 'extra' is unknown"),
    ],
)  # fmt: skip
def test_what_is_no_schema_is_told(collections, reason):
    reading = read(json.dumps({"collections": collections}))
    assert reading.value is None and reason in reading.fault


def test_a_circle_may_hold_an_optional_reference():
    made = design_of(
        collection("a", field("b", "reference", to="b")),
        collection("b", field("a", "reference", to="a", optional=True)),
        collection("c", field("c", "list", of="reference", to="c")),
    )
    assert required_circle(made.schema) == []
    assert (
        required_circle(
            design_of(collection("a", field("up", "reference", to="a", optional=True))).schema
        )
        == []
    )


async def test_a_writer_has_two_repairs_and_no_more_records_are_wanted_than_counts_allow():
    good = {"collections": list(TOOLS)}
    shop, written = workshop("A schema?", {"tables": []}, good, records=2)
    made = await design(shop, PLAN)
    assert made.num_records == {"tools": 2, "loans": 2}
    assert [line["name"] for line in written.lines("schema.jsonl")] == ["tools", "loans"]
    assert not kinds(shop)


async def test_without_a_schema_the_run_ends_and_says_whose_fault_it_is():
    shop, _ = workshop("No.", "No.", "No.")
    with pytest.raises(NothingUsable, match="^schema: Big wrote nothing that can be used"):
        await design(shop, PLAN)
