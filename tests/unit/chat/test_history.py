"""Turns as messages again."""

from dataclasses import replace

from tests.unit.user.scene import said

from toolorchestra.chat.history import history, policy_message, said_in, shown_after
from toolorchestra.types import CallError, ToolCall, ToolResult, UserMessage

CALL = ToolCall(id="call_0", name="f", arguments={"a": 1})
RESULT = ToolResult(call_id="call_0", name="f", content="4", status="ok")
CALL_TEXT = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
ERROR = CallError(message="no JSON", text="<tool_call>x</tool_call>")


def test_what_is_said_holds_neither_thoughts_nor_calls():
    assert said_in(said("<think>\nhm\n</think>\n\n Hello. ")) == "Hello."
    assert said_in(said(f"Hello.\n{CALL_TEXT}")) == "Hello."
    assert said_in(said("hm</think>Hello.")) == "Hello."  # the prompt had opened the thought
    assert said_in(said("")) == ""


def test_turns_become_messages_results_and_what_the_user_says():
    calling = replace(
        said(f"<think>\nhm\n</think>\n\nWait.\n{CALL_TEXT}"),
        thinking="hm",
        calls=(CALL,),
        results=(RESULT,),
    )
    assert history([calling, said("Done.", UserMessage(text="Thanks."))]) == [
        {
            "role": "assistant",
            "content": "Wait.",
            "reasoning_content": "hm",
            "tool_calls": [
                {
                    "id": "call_0",
                    "type": "function",
                    "function": {"name": "f", "arguments": {"a": 1}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_0", "name": "f", "content": "4"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]


def test_a_message_with_faults_stands_as_it_was_written_with_what_was_wrong_behind_it():
    text = f"<think>\nhm\n</think>\n\n{CALL_TEXT}\n{ERROR.text}"
    turn = replace(said(text), thinking="hm", calls=(CALL,), results=(RESULT,), errors=(ERROR,))
    assert policy_message(turn) == {"role": "assistant", "content": text}
    assert [result.content for result in shown_after(turn)] == ["4", "error: no JSON"]
    assert len(history([turn])) == 3
