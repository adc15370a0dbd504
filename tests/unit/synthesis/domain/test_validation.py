"""Which records stay: consistency by code, plausibility by a second model."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.making import PLAN, design_of, kinds, loan, tool, workshop

from toolorchestra.synthesis.domain.validation import read, request, sift, validate
from toolorchestra.synthesis.domain.workshop import NothingUsable


def records_of(tools, loans):
    return {"tools": {one["id"]: one for one in tools}, "loans": {one["id"]: one for one in loans}}


def verdicts(**found):
    return {
        "verdicts": [
            {"key": key, "reason": f"about {key}", "is_plausible": value}
            for key, value in found.items()
        ]
    }


def test_of_two_records_with_one_unique_value_the_first_stays_and_references_follow():
    records = records_of(
        [tool("T1", "Saw"), tool("T2", "Saw")], [loan("L1", "T1"), loan("L2", "T2")]
    )
    kept, rejections = sift(design_of().schema, records)
    assert {name: list(known) for name, known in kept.items()} == {"tools": ["T1"], "loans": ["L1"]}
    assert [(one.place, one.kind) for one in rejections] == [
        ("tools T2", "duplicate"),
        ("loans L2", "reference"),
    ]
    assert len(records["tools"]) == 2  # what was given is left as it is


def test_the_validator_sees_the_records_and_what_they_refer_to():
    records = records_of([tool("T1"), tool("T2")], [loan("L1", "T2")])
    text = request(PLAN, design_of(), records, "loans", ["L1"])
    assert json.dumps({"tools": tool("T2")}) in text and '"T1"' not in text
    assert text.endswith("The records:\n" + json.dumps(loan("L1", "T2")))


@pytest.mark.parametrize(
    ("said", "plausible", "fault"),
    [
        (verdicts(a=True, b=False), {"a": True, "b": False}, ""),
        (verdicts(a=True), {"a": True}, "No verdict on b."),
        (verdicts(a=True, b=True, c=True), {"a": True, "b": True}, ""),
        ("Both are fine.", None, "the reply is no JSON"),
        ({"verdicts": [{"key": "a"}]}, None, "key 'reason' is missing"),
    ],
)
def test_verdicts_are_read_by_key_and_missing_ones_are_asked_for(said, plausible, fault):
    reading = read(said if isinstance(said, str) else json.dumps(said), ["a", "b"])
    found = reading.value and {key: one.is_plausible for key, one in reading.value.items()}
    assert found == plausible and fault in reading.fault and bool(fault) == bool(reading.fault)


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_of_two_verdicts_on_a_record_the_worse_counts(order):
    both = [{"key": "a", "reason": "", "is_plausible": value} for value in order]
    reading = read(json.dumps({"verdicts": both}), ["a"])
    assert reading.value is not None and not reading.value["a"].is_plausible


async def test_the_implausible_goes_and_what_refers_to_it():
    records = records_of([tool("T1"), tool("T2")], [loan("L1", "T1"), loan("L2", "T2")])
    shop, written = workshop(validator=[verdicts(T1=True, T2=False), verdicts(L1=True, L2=True)])
    kept = await validate(shop, PLAN, design_of(), records)
    assert {name: list(known) for name, known in kept.items()} == {"tools": ["T1"], "loans": ["L1"]}
    assert kinds(shop) == [("tools T2", "implausible"), ("loans L2", "reference")]
    assert shop.journal.rejections[0].reason == "validator: about T2"
    assert len(written.lines("validation.jsonl")) == 2


async def test_without_a_verdict_a_record_does_not_stay():
    records = records_of([tool("T1"), tool("T2")], [loan("L1", "T2")])
    shop, _ = workshop(validator=[*[verdicts(T2=True)] * 3, verdicts(L1=True)])
    kept = await validate(shop, PLAN, design_of(), records)
    assert list(kept["tools"]) == ["T2"]
    assert kinds(shop) == [("tools T1", "no usable reply")]


async def test_a_collection_that_is_left_empty_ends_the_run():
    records = records_of([tool("T1")], [loan("L1", "T1")])
    shop, _ = workshop(validator=[verdicts(T1=True), verdicts(L1=False)])
    with pytest.raises(NothingUsable, match="^validation: no record of loans is left"):
        await validate(shop, PLAN, design_of(), records)
