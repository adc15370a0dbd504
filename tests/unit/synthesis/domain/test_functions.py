"""Functions that a model writes are tried out in the sandbox; what is wrong is told."""

from __future__ import annotations

import json

import pytest
from tests.unit.synthesis.domain.making import PLAN, design_of, kinds, loan, tool, workshop

from toolorchestra.synthesis.domain.functions import Bench, arguments_of, read, write_functions
from toolorchestra.synthesis.domain.outline import Outline, Planned
from toolorchestra.synthesis.domain.workshop import NothingUsable

GET = Planned(name="get_tool", purpose="Look up a tool.", is_write=False)
COUNT = Planned(name="count_tools", purpose="Count.", is_write=False)
BENCH = Bench(
    about=PLAN,
    design=design_of(),
    records={"tools": {"T1": tool("T1")}, "loans": {"L1": loan("L1", "T1")}},
    outline=Outline(policy="Be kind.", functions=(GET, COUNT)),
)
CODE = '''
def get_tool(db: Database, key: str) -> dict[str, Any]:
    """Look up a tool.

    Args:
        key: Which.
    """
    return db.get("tools", key)
'''


def reply(code=CODE, *examples):
    shown = examples or (('{"key": "T1"}', True), ('{"key": "T2"}', False))
    forms = [{"arguments": text, "works": works} for text, works in shown]
    return {"code": code, "examples": forms}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"code": CODE}, "key 'examples' is missing"),
        (reply(CODE, ("T1", True)), "examples[0].arguments: is no JSON text"),
        (reply(CODE, ('["T1"]', True)), "examples[0].arguments: is no object"),
        (reply("import os"), "code: has to be the one function get_tool"),
    ],
)
def test_what_is_no_function_is_told_without_running_it(value, reason):
    reading = read(json.dumps(value), BENCH, GET)
    assert reading.value is None and reason in reading.fault


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"a": NaN}', '{"a": "\\ud800"}', "[" * 9999]
)
def test_arguments_are_an_object_as_text(text):
    with pytest.raises(ValueError, match="^here: is no "):
        arguments_of(text, "here")


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (reply(), ""),
        (reply(CODE, ('{"key": "T2"}', True)), "fails, and is not to: there is no 'T2' in tools"),
        (reply(CODE.replace("key: Which.", "")), "key is not described"),
        (reply(CODE.replace("key: str", "key: bytes")), "the annotation"),
        (reply(CODE.replace('"tools", key', '"saws", key')), "get_tool broke"),
        (reply(CODE.replace("db.get", 'open("/etc/passwd", "a") or db.get')), "get_tool broke"),
        (reply(CODE.replace("return", "import socket; return")), ""),
    ],
)
def test_a_function_is_run_in_the_sandbox_and_its_faults_are_told(value, reason):
    reading = read(json.dumps(value), BENCH, GET)
    assert (reading.value is not None) == (not reason)
    assert reason in reading.fault


@pytest.mark.sandbox
async def test_one_bad_function_leaves_the_others_unless_too_few_are_left():
    said = [reply(), *["No."] * 3]
    shop, written = workshop(*said, functions=2)
    assert list(await write_functions(shop, BENCH)) == ["get_tool"]
    assert kinds(shop) == [("count_tools", "broken function")]
    assert written.lines("functions.jsonl") == [{"name": "get_tool", "code": CODE}]
    shop, _ = workshop(*said, functions=2, min_functions=2)
    with pytest.raises(
        NothingUsable, match="^functions: 1 of 2 work, and counts.min_functions is 2"
    ):
        await write_functions(shop, BENCH)
