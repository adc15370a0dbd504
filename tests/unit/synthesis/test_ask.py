"""A model is asked until its reply can be used, and no further."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.unit.synthesis.test_describe import Writer

from toolorchestra.synthesis.ask import Reading, ask, check_writable, json_of, record_of
from toolorchestra.synthesis.config import AskedConfig
from toolorchestra.tool.expert_config import AnswerLimits

CONFIG = AskedConfig(model="Writer", system="Count.", limits=AnswerLimits(max_tokens=9))


def read(said: str) -> Reading[str]:
    """Only what begins with "good" is good; "half" can be used all the same."""
    fault = "" if said.startswith("good") else f"no: {said}"
    return Reading(value=said if said[:4] in ("good", "half") else None, fault=fault)


async def asked(*said: str, num_repairs: int = 2):
    writer = Writer(*said)
    schema = {"type": "object"}
    answer = await ask(
        writer, CONFIG, "Go.", read, deadline_s=7.0, num_repairs=num_repairs, json_schema=schema
    )
    return answer, writer


async def test_a_good_reply_is_the_only_one():
    answer, writer = await asked("<think>hm</think>good")
    assert (answer.value, answer.fault, answer.usage.num_requests) == ("good", "", 1)
    ((messages, sampling, deadline_s),) = writer.asked
    assert [message.content for message in messages] == ["Count.", "Go."]
    assert (sampling.max_tokens, sampling.json_schema) == (9, {"type": "object"})
    assert deadline_s == 7.0


async def test_a_model_reads_what_it_said_and_what_was_wrong_with_it():
    answer, writer = await asked("bad", "good too")
    assert (answer.value, answer.usage.num_requests) == ("good too", 2)
    assert [message.content for message in writer.asked[1][0][2:]] == ["bad", "no: bad"]


async def test_after_the_last_repair_what_can_be_used_is_kept_with_the_last_fault():
    answer, _ = await asked("bad", "half 1", "bad again")
    assert (answer.value, answer.fault) == ("half 1", "no: bad again")
    assert answer.usage.num_requests == 3
    answer, _ = await asked("bad", num_repairs=0)
    assert answer.value is None and answer.fault == "no: bad"


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '```json\n{"a": 1}\n```', 'Here you are:\n```\n{"a": 1}\n```\nBye.']
)
def test_json_is_the_whole_reply_or_its_one_fence(text):
    assert json_of(text) == {"a": 1}


@pytest.mark.parametrize(
    "text", ["", "a: 1", '{"a": 1', 'It is {"a": 1}.', "```\n1\n```\n```\n2\n```", "[" * 100_000]
)
def test_anything_else_is_no_json(text):
    with pytest.raises(ValueError, match="the reply is no JSON"):
        json_of(text)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    name: str
    more: Any


def test_a_record_is_the_whole_of_a_reply():
    assert record_of(Thing, '{"name": "a", "more": [1]}') == Thing(name="a", more=[1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a thing", "the reply is no JSON"),
        ('{"name": "a"}', "reply: key 'more' is missing"),
        ('{"name": "\\ud800", "more": 1}', "surrogates not allowed"),
        ('{"name": "a", "more": Infinity}', "Out of range float"),
    ],
)
def test_what_no_file_can_hold_is_no_record(text, reason):
    with pytest.raises(ValueError, match=reason):
        record_of(Thing, text)


def test_what_is_nested_without_end_cannot_be_written():
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested without end"):
        check_writable(value)
