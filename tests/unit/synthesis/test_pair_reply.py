"""Of a reply the good pairs are taken, and each of the others gets a reason and a place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolorchestra.synthesis.pair_reply import read_batch, read_verdict
from toolorchestra.types import Preference

TOOLS = ["gpt_5", "web_search"]


def pair(instruction: str = "Take gpt_5.", **changes: Any) -> dict[str, Any]:
    weights = [{"tool": "gpt_5", "weight": 1}]
    fields = {"instruction": instruction, "outcome": 1, "cost": 0.25, "latency": 0}
    return fields | {"tools": weights} | changes


def read(*pairs: Any, kind: str = "like"):
    text = json.dumps({"pairs": pairs})
    return read_batch(text, kind=kind, place="like-1", tools=TOOLS)


def test_a_good_pair_becomes_a_preference_of_the_kind_that_was_asked_for():
    reading = read(pair("Take  gpt_5,\nplease."))
    assert reading.fault == "" and reading.value is not None
    wish = Preference(
        kind="like",
        instruction="Take gpt_5, please.",
        outcome=1.0,
        cost=0.25,
        latency=0.0,
        tools={"gpt_5": 1.0},
    )
    assert reading.value.wishes == (("like-1.pairs[0]", wish),)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (pair(cost=1.5), "preference.cost: 1.5 is not allowed"),
        (pair(latency=-1), "preference.latency: -1.0 is not allowed"),
        (pair(cost="much"), "pairs[1].cost: expected a finite number; got 'much'"),
        (pair(tools=[{"tool": "gpt_9", "weight": 1}]), "'gpt_9' is not allowed"),
        (pair(tools={"gpt_5": 1}), "pairs[1].tools: expected a list"),
        (pair(tools=[{"tool": "gpt_5", "weight": 1}] * 2), "a tool is weighed twice"),
        (pair(tools=[]), "is to weigh some unlike others"),
        (pair(tools=[{"tool": t, "weight": 1} for t in TOOLS]), "is to weigh some unlike others"),
        (pair("word " * 41), "41 words; use up to 40"),
        (pair("GOOD, gpt 5!"), "is there already, at pairs[0]"),
        (pair(mood="fine"), "key 'mood' is unknown"),
        ("Take gpt_5.", "pairs[1]: expected an object"),
        (pair("Take \ud800 gpt_5."), "cannot stand in one line of text"),
        (pair(cost=float("nan")), "pairs[1].cost: expected a finite number; got nan"),
    ],
)
def test_a_bad_pair_is_rejected_and_told_and_the_rest_is_taken(bad: Any, reason: str):
    reading = read(pair("Good gpt_5."), bad, pair("Call web_search no more."))
    assert reading.value is not None
    assert [place for place, _ in reading.value.wishes] == ["like-1.pairs[0]", "like-1.pairs[2]"]
    (rejection,) = reading.value.rejections
    assert rejection.place == "like-1.pairs[1]" and rejection.said == json.dumps(bad)[:500]
    assert reason in rejection.reason and reason in reading.fault


@pytest.mark.parametrize("depth", [500, 900, 100_000])
def test_what_is_nested_without_end_is_refused(depth: int):
    deep = "[" * depth + "]" * depth
    good = json.dumps(pair())
    reading = read_batch(f'{{"pairs": [{good}, {deep}]}}', kind="like", place="like-1", tools=TOOLS)
    assert reading.fault
    if reading.value is not None:
        assert len(reading.value.wishes) == len(reading.value.rejections) == 1


def test_a_wish_about_money_needs_no_tools():
    assert read(pair("Be cheap.", tools=[]), kind="cost").fault == ""


@pytest.mark.parametrize(
    "said",
    [
        "Here are some wishes: be cheap; be quick.",
        '{"pairs": [{"instruction": ',
        '{"wishes": []}',
        '{"pairs": []}',
        '{"pairs": "none"}',
        '{"pairs": [], "note": "x"}',
        "[]",
    ],
)
def test_of_another_form_nothing_is_taken(said: str):
    reading = read_batch(said, kind="like", place="like-1", tools=TOOLS)
    assert reading.value is None and reading.fault.endswith("Write the whole reply again.")


def test_a_verdict_is_read_from_its_form_alone():
    reading = read_verdict('{"reason": "It fits.", "is_consistent": true}')
    assert reading.value is not None and reading.value.is_consistent and not reading.fault
    for said in ("yes", '{"is_consistent": true}', '{"reason": "x", "is_consistent": "yes"}'):
        assert read_verdict(said).value is None and read_verdict(said).fault
