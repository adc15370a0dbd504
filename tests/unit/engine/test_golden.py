"""The golden policy does its own part of a task, and asks the user for the other."""

from dataclasses import replace
from random import Random

import pytest
from tests.unit.user.scene import RELEASE, called, install, locker_episode, said

from toolorchestra.engine.golden import Golden
from toolorchestra.types import ToolCall, UserMessage


@pytest.fixture(autouse=True)
def locker(monkeypatch):
    return install(monkeypatch)


def says(episode, *turns):
    return Golden()(episode, turns, Random(0))


READ = said(
    "slip?", UserMessage(text="4711", calls=(ToolCall(id="c", name="read_slip", arguments={}),))
)
RELEASED = replace(said(RELEASE), calls=(ToolCall(id="c", name="release", arguments={}),))
OPENED = said(
    "open?", UserMessage(text="!", calls=(ToolCall(id="c", name="open_locker", arguments={}),))
)


def test_it_goes_through_the_golden_actions_of_both_and_then_says_what_has_to_be_said():
    episode = locker_episode()
    assert says(episode) == "slip?"
    assert says(episode, READ) == RELEASE
    assert says(episode, READ, RELEASED) == "open?"
    assert says(episode, READ, RELEASED, OPENED) == "That is done: 52."


def test_steps_in_which_the_user_does_nothing_are_asked_for_too():
    episode = locker_episode("state")
    looked = replace(said(""), calls=(ToolCall(id="c", name="get_locker", arguments={}),))
    asked = said("Which one?", UserMessage(text="L2."))
    thanked = said("Please go on.", UserMessage(text="Thank you."))
    assert says(episode) == called("get_locker", locker_id="L2")
    assert says(episode, looked) == "Which one?"
    assert says(episode, looked, asked) == "Please go on."
    assert says(episode, looked, asked, thanked) == "answer: done"


def test_a_question_is_answered_with_the_right_answer(make_episode):
    assert says(make_episode()) == "answer: 4"
