"""What a domain's verdict goes by: the calls of both parties in their order, and what was said."""

from dataclasses import replace

import pytest
from tests.invariant.records import rollout
from tests.unit.user.scene import install, locker_episode, said

from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.task import Action
from toolorchestra.judge.domain import actions_of, judge_domain, messages_of
from toolorchestra.types import ToolCall, ToolResult, UserMessage


@pytest.fixture(autouse=True)
def locker(monkeypatch):
    return install(monkeypatch)


def call(name, number=0, **arguments):
    return ToolCall(id=f"call_{number}", name=name, arguments=arguments)


def acted(*names):
    calls = tuple(call(name, locker_id="L1") for name in names)
    return UserMessage(text="Well.", calls=calls)


RELEASED = replace(
    said("<tool_call>"),
    calls=(call("release", locker_id="L1", slip="4711"),),
    results=(ToolResult(call_id="call_0", name="release", content="", status="ok"),),
)
LAST = said("The code was 52.", UserMessage(text="", is_last=True))


def judged(*turns, answer="Bye."):
    return judge_domain(goal_of(locker_episode().task), rollout(*turns, answer=answer))


def test_the_calls_of_both_are_made_again_in_their_order():
    turns = (said("Slip?", acted("read_slip")), RELEASED, said("Open!", acted("open_locker")), LAST)
    goal = goal_of(locker_episode().task)
    assert actions_of(goal, rollout(*turns)) == [
        Action(name="read_slip", arguments={"locker_id": "L1"}, by="user"),
        Action(name="release", arguments={"locker_id": "L1", "slip": "4711"}),
        Action(name="open_locker", arguments={"locker_id": "L1"}, by="user"),
    ]
    assert judged(*turns).is_solved is True


def test_a_door_that_was_pulled_before_it_was_released_stays_shut():
    verdict = judged(said("Slip, open!", acted("read_slip", "open_locker")), RELEASED, LAST)
    assert verdict.is_solved is False
    assert "database: changed lockers L1.is_open" in verdict.reason


def test_the_policy_cannot_do_what_is_the_users():
    posing = replace(
        RELEASED,
        calls=(call("open_locker", locker_id="L1"),),
        results=(ToolResult(call_id="call_0", name="open_locker", content="", status="ok"),),
    )
    assert actions_of(goal_of(locker_episode().task), rollout(posing)) == []


def test_all_that_was_said_to_the_user_counts_and_nothing_else():
    thought = said("<think>52</think>Hello.", UserMessage(text="?"))
    talk = rollout(thought, RELEASED, said("", UserMessage(text="?")), LAST, answer="52")
    assert messages_of(talk) == ["Hello.", "The code was 52."]


@pytest.mark.parametrize(
    ("answer", "said_at_last"), [("<think>52</think>Done.", ["Done."]), ("", []), (None, [])]
)
def test_without_a_user_the_answer_is_what_was_said(answer, said_at_last):
    assert messages_of(rollout(RELEASED, said("Done."), answer=answer)) == said_at_last


def test_a_conversation_without_an_end_is_not_answered():
    turns = (said("Slip?", acted("read_slip")), RELEASED, said("Open 52!", acted("open_locker")))
    assert judged(*turns, answer=None).reason == "no answer was given"
    assert judged(*turns, answer="").is_solved is True
