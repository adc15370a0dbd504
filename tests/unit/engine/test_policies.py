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
    reason_for,
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


RATED = (
    replace(tool("maths", 0.2, 1.0), description="Solver. math 5, logic 2"),
    replace(tool("generalist", 0.1, 9.0), description="Model. math 3, logic 4, aftermath 1"),
    replace(tool("search", 0.1, 2.0), description="Search. lookup 5"),
)
MATH = replace(EPISODE, tools=RATED, task=replace(EPISODE.task, skill="math"))


def thought(text):
    return parse_message(text, finish_reason="stop").thinking


@pytest.mark.parametrize(
    ("name", "wanted", "reason"),
    [
        ("maths", {}, "math 5"),
        ("maths", {"maths": 1.0}, "asked"),
        ("generalist", {"maths": 1.0}, "math 3"),
        ("search", {"search": 1.0}, "asked"),
        ("search", {}, "guess"),
    ],
)
def test_a_reason_is_the_users_wish_or_the_rating_for_the_task(name, wanted, reason):
    asked = replace(MATH, preference=replace(MATH.preference, tools=wanted))
    (offered,) = (tool for tool in RATED if tool.name == name)
    assert reason_for(asked, offered) == reason


def test_random_format_chooses_blind_to_task_rating_price_and_preference():
    policy = RandomFormat(another=0.5)
    other = replace(
        MATH,
        task=replace(MATH.task, question="Who?", skill="lookup"),
        tools=tuple(replace(t, call_cost_usd=9.0, description="x") for t in RATED),
        preference=replace(MATH.preference, tools={"search": 1.0}),
    )
    turns = [turn(result("maths", content="answer: 4"))]
    for seed in range(50):
        for past in ([], turns):
            ours, theirs = (policy(e, past, Random(seed)) for e in (MATH, other))
            assert called(ours) == called(theirs)


def test_random_format_calls_every_tool_alike_and_gives_a_true_reason_for_each():
    policy = RandomFormat(another=0.5)
    texts = [policy(MATH, [], Random(seed)) for seed in range(600)]
    names = [name for text in texts for name in called(text)]
    for offered in RATED:
        assert names.count(offered.name) == pytest.approx(200, abs=50)
    true = {"maths": "math 5", "generalist": "math 3", "search": "guess"}
    assert [thought(text) for text in texts] == [true[name] for name in names]


def test_random_format_hands_on_every_answer_heard_or_calls_again():
    policy = RandomFormat(another=0.5)
    heard = [turn(result("a", content="answer: 4"), result("b", content="answer: 5"))]
    said = {policy(MATH, heard, Random(seed)) for seed in range(100)}
    assert {"answer: 4", "answer: 5"} < said
    assert any("<tool_call>" in text for text in said)
