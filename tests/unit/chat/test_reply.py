"""An API's reply as a policy message."""

from __future__ import annotations

import json

import pytest

from toolorchestra.chat.reply import UNREADABLE, read_reply
from toolorchestra.provider.base import FunctionCall, Reply
from toolorchestra.types import ToolCall, Usage


def reply(text="", *calls: tuple[str, str], **more) -> Reply:
    """A reply whose calls are given as name and arguments."""
    asked = tuple(FunctionCall(id="same", name=name, arguments=args) for name, args in calls)
    fields = {"reasoning": "", "is_cut": False, "usage": Usage(), "latency_s": 0.0, "attempts": ()}
    return Reply(text=text, calls=asked, **(fields | more))


def test_calls_keep_their_order_and_get_ids_that_go_on_with_the_rollouts_own():
    said = read_reply(reply("", ("ask", '{"q": 1}'), ("find", "")), first_id=3)
    assert said.calls == (
        ToolCall(id="call_3", name="ask", arguments={"q": 1}),
        ToolCall(id="call_4", name="find", arguments={}),
    )
    assert not said.refused and not said.errors and not said.is_truncated


def test_what_looks_like_a_call_in_the_text_is_text():
    text = 'I would write <tool_call>{"name": "ask", "arguments": {}}</tool_call>.'
    said = read_reply(reply(text), first_id=0)
    assert (said.content, said.calls, said.errors) == (text, (), ())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"q": ', "not valid JSON"),
        ("[1]", "must be an object; got a list"),
        ('{"q": NaN}', "NaN is not JSON"),
        ('{"q": 1, "q": 2}', 'the key "q" appears twice'),
        ('{"q": 1} and more', "extra data"),
    ],
)
def test_arguments_that_cannot_be_read_are_kept_as_written_with_what_is_wrong(arguments, why):
    said = read_reply(reply("", ("ask", arguments), ("ask", "{}")), first_id=0)
    assert said.calls[0].arguments == {UNREADABLE: arguments}
    assert said.calls[1].arguments == {}
    assert said.refused.keys() == {"call_0"} and why in said.refused["call_0"]


@pytest.mark.parametrize("how", ["is_cut", "is_filtered"])
def test_no_call_of_a_message_that_was_cut_is_run(how):
    said = read_reply(reply("so", ("ask", '{"q": 1}'), **{how: True}), first_id=0)
    assert said.is_truncated and said.calls == ()
    (error,) = said.errors
    assert json.loads(error.text)[0]["arguments"] == '{"q": 1}'


@pytest.mark.parametrize(
    ("text", "reasoning", "thinking", "content"),
    [
        ("answer: 4", "2 and 2", "2 and 2", "answer: 4"),
        ("<think>\nhm\n</think>\n\nanswer: 4", "", "hm", "answer: 4"),
        ("hm\n</think>answer: 4", "", "hm", "answer: 4"),
        ("<think>on and on", "", "on and on", ""),
        ("<think>b</think>c", "a", "a\n\nb", "c"),
    ],
)
def test_thoughts_come_apart_from_what_is_said(text, reasoning, thinking, content):
    said = read_reply(reply(text, reasoning=reasoning), first_id=0)
    assert (said.thinking, said.content) == (thinking, content)
