from dataclasses import replace
from random import Random

import pytest
from tests.invariant.records import episode, result, tool, turn

from toolorchestra.chat.parse import parse_message
from toolorchestra.engine.policies import (
    FirstAnswer,
    RandomFormat,
    answers_in,
    call_text,
    final_text,
    pick_ablest,
    pick_cheapest,
    pick_random,
)

EPISODE = episode(tool("dear", 0.2, 1.0), tool("cheap", 0.1, 9.0), tool("quick", 0.1, 2.0))


def called(text):
    message = parse_message(text, finish_reason="stop")
    assert not message.errors
    return [call.name for call in message.calls]


def test_a_call_text_is_read_back_as_its_calls():
    message = parse_message(call_text("a", "b"), finish_reason="stop")
    assert [(call.name, call.arguments) for call in message.calls] == [("a", {}), ("b", {})]
    assert (message.errors, message.content) == ((), "")


def test_an_answer_is_the_first_line_of_a_result_that_is_ok():
    results = [
        result("a", content="answer: 4\nsource: x"),
        result("b", content="no answer", status="abstained"),
        result("c", content="error: answer: 5", status="policy_error"),
        result("d", content=""),
        result("e", content="answer: two\u2028lines"),
    ]
    assert answers_in(results) == ["4", "", "two\u2028lines"]


def test_first_answer_calls_until_a_tool_answers_and_repeats_it():
    policy, rng = FirstAnswer(pick_cheapest), Random(0)
    turns = []
    assert called(policy(EPISODE, turns, rng)) == ["quick"]
    turns.append(turn(result("quick", content="no answer", status="abstained")))
    assert called(policy(EPISODE, turns, rng)) == ["cheap"]
    turns.append(turn(result("cheap", content="answer: 4")))
    assert policy(EPISODE, turns, rng) == final_text("4") == "answer: 4"


def test_first_answer_gives_up_when_all_tools_or_its_calls_are_used_up():
    silent = [turn(result(t.name, content="", status="abstained")) for t in EPISODE.tools]
    assert FirstAnswer(pick_random)(EPISODE, silent, Random(0)) == "answer: unknown"
    policy = FirstAnswer(pick_random, max_calls=1)
    assert policy(EPISODE, silent[:1], Random(0)) == "answer: unknown"


def test_the_cheapest_tool_is_taken_and_of_two_alike_the_faster():
    assert pick_cheapest(EPISODE, EPISODE.tools, Random(0)).name == "quick"


def test_the_ablest_tool_is_taken():
    ability = {"dear": 0.3, "cheap": 0.9, "quick": 0.1}
    assert pick_ablest(ability)(EPISODE, EPISODE.tools, Random(0)).name == "cheap"


def test_a_random_pick_takes_every_tool_alike():
    rng = Random(0)
    picks = [pick_random(EPISODE, EPISODE.tools, rng).name for _ in range(3000)]
    for offered in EPISODE.tools:
        assert picks.count(offered.name) == pytest.approx(1000, abs=100)


def test_random_format_is_blind_to_task_price_and_preference():
    policy = RandomFormat(another=0.5, pair=0.3)
    other = replace(
        EPISODE,
        task=replace(EPISODE.task, question="Who?", skill="lookup"),
        tools=tuple(replace(t, call_cost_usd=9.0, description="x") for t in EPISODE.tools),
    )
    turns = [turn(result("dear", content="answer: 4"))]
    for seed in range(50):
        for past in ([], turns):
            assert policy(EPISODE, past, Random(seed)) == policy(other, past, Random(seed))


def test_random_format_shows_single_calls_pairs_and_every_answer_heard():
    policy = RandomFormat(another=0.5, pair=0.3)
    first = [called(policy(EPISODE, [], Random(seed))) for seed in range(400)]
    assert {len(names) for names in first} == {1, 2}
    assert {name for names in first for name in names} == {t.name for t in EPISODE.tools}
    heard = [turn(result("a", content="answer: 4"), result("b", content="answer: 5"))]
    said = {policy(EPISODE, heard, Random(seed)) for seed in range(100)}
    assert {"answer: 4", "answer: 5"} < said
    assert any("<tool_call>" in text for text in said)
