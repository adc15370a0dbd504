"""An episode and its turns as the messages of an API."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.unit.rollout.stage import make_episode

from toolorchestra.chat.reply import UNREADABLE
from toolorchestra.engine.native import messages_of
from toolorchestra.provider.base import FunctionCall, Message
from toolorchestra.types import Preference, ToolCall, ToolResult, Turn, UserMessage

EPISODE = make_episode(
    preference=Preference(kind="test", instruction="Be cheap.", outcome=1.0, cost=0.0, latency=0.0)
)
OPENING = [
    Message(role="system", content="Solve."),
    Message(role="user", content="What is 2 + 2?\nPreference: Be cheap."),
]


def turn(text="", *calls: ToolCall, said: str | None = None, thinking="") -> Turn:
    """A turn whose calls each gave "gave <id>", the last first."""
    return Turn(
        prompt_tokens=0,
        completion_ids=(),
        logprobs=(),
        version=0,
        finish_reason="stop",
        text=text,
        thinking=thinking,
        calls=calls,
        errors=(),
        results=tuple(
            ToolResult(call_id=call.id, name=call.name, content=f"gave {call.id}", status="ok")
            for call in reversed(calls)
        ),
        policy_cost_usd=0.0,
        user=None if said is None else UserMessage(text=said),
        is_native=True,
    )


def messages(*turns: Turn, sends_reasoning=False) -> list[Message]:
    return messages_of(EPISODE, turns, system_prompt="Solve.", sends_reasoning=sends_reasoning)


def call(number: int, name="ask", **arguments) -> ToolCall:
    return ToolCall(id=f"call_{number}", name=name, arguments=arguments)


def test_a_conversation_begins_with_the_system_and_the_question_with_its_preference():
    assert messages() == OPENING
    alone = messages_of(EPISODE, (), system_prompt="", sends_reasoning=False)
    assert alone == OPENING[1:]


def test_each_call_is_followed_by_its_result_in_the_order_of_the_calls():
    turns = (turn("First.", call(0, q="é"), call(1)), turn("", call(2)))
    assert messages(*turns) == [
        *OPENING,
        Message(
            role="assistant",
            content="First.",
            calls=(
                FunctionCall(id="call_0", name="ask", arguments='{"q": "é"}'),
                FunctionCall(id="call_1", name="ask", arguments="{}"),
            ),
        ),
        Message(role="tool", content="gave call_0", call_id="call_0"),
        Message(role="tool", content="gave call_1", call_id="call_1"),
        Message(
            role="assistant",
            content="",
            calls=(FunctionCall(id="call_2", name="ask", arguments="{}"),),
        ),
        Message(role="tool", content="gave call_2", call_id="call_2"),
    ]


def test_what_a_simulated_user_says_follows_what_was_said_to_it():
    assert messages(turn("Which one?", said="The red one.")) == [
        *OPENING,
        Message(role="assistant", content="Which one?"),
        Message(role="user", content="The red one."),
    ]


def test_thoughts_are_sent_back_only_where_asked_for():
    thought = turn("Which one?", said="The red one.", thinking="hm")
    assert messages(thought)[2].reasoning == ""
    assert messages(thought, sends_reasoning=True)[2].reasoning == "hm"


def test_a_history_holds_no_name_and_no_arguments_that_providers_refuse():
    bad = call(0, "functions.ask you?" + "x" * 80, **{UNREADABLE: '{"q": '})
    (written,) = messages(turn("", bad))[2].calls
    assert written.name == "functions_ask_you_" + "x" * 46
    assert json.loads(written.arguments) == {UNREADABLE: '{"q": '}
    (unnamed,) = messages(turn("", replace(bad, name="")))[2].calls
    assert unnamed.name == "_"
