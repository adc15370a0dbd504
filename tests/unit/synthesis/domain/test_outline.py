"""Rules and functions that are planned."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.making import PLAN, design_of, tool, workshop

from toolorchestra.synthesis.domain.outline import account, outline, read

GET = {"name": "get_tool", "purpose": "Look up.", "is_write": False}


def reply(*functions, policy="Be kind."):
    return {"policy": policy, "functions": list(functions)}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (reply(), "an outline needs rules and functions"),
        (reply(GET, policy=""), "an outline needs rules and functions"),
        (reply(GET, GET), "two functions have the same name"),
        (reply({**GET, "name": "Get"}), "the name 'Get' is not allowed"),
        (reply({**GET, "name": "lambda"}), "the name 'lambda' is not allowed"),
        (reply({**GET, "name": "a; import os"}), "is not allowed"),
        (reply({**GET, "purpose": ""}), "get_tool needs a purpose"),
        (reply({**GET, "is_write": "no"}), "expected true or false"),
    ],
)
def test_what_is_no_outline_is_told(value, reason):
    reading = read(json.dumps(value))
    assert reading.value is None and reason in reading.fault


def test_some_records_of_each_collection_are_shown():
    records = {"tools": {f"T{n}": tool(f"T{n}") for n in range(9)}, "loans": {}}
    text = account(PLAN, design_of(), records)
    assert text.count('{"tools": {"id"') == 3 and '"reference"' in text


async def test_functions_beyond_those_asked_for_are_left_out():
    shop, written = workshop(reply(GET, {**GET, "name": "more"}), functions=1)
    found = await outline(shop, PLAN, design_of(), {})
    assert [one.name for one in found.functions] == ["get_tool"]
    assert written.lines("outline.jsonl") == [GET]
