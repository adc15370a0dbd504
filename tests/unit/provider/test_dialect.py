"""What requests hold and replies say in OpenAI's two APIs, and what is no reply."""

from __future__ import annotations

import pytest

from toolorchestra.provider.base import Message, Sampling
from toolorchestra.provider.dialect import DIALECTS, BrokenReply

ASK = [Message(role="system", content="Be brief."), Message(role="user", content="2 + 2?")]
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}}
CHAT, RESPONSES = DIALECTS["chat"], DIALECTS["responses"]


def chat(message, **changes):
    return {"choices": [{"finish_reason": "stop", "message": message} | changes]}


def test_a_chat_request_holds_only_what_was_chosen():
    request = CHAT.request("m", ASK, Sampling(), max_tokens_field="max_tokens")
    assert request == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2 + 2?"},
        ],
    }


def test_a_chat_request_names_the_longest_reply_as_the_provider_does():
    sampling = Sampling(max_tokens=9, reasoning_effort="low", json_schema=SCHEMA)
    request = CHAT.request("m", ASK, sampling, max_tokens_field="max_completion_tokens")
    assert request["max_completion_tokens"] == 9 and "max_tokens" not in request
    assert request["reasoning_effort"] == "low"
    assert request["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_responses_request_holds_the_same_in_that_apis_words():
    sampling = Sampling(max_tokens=9, reasoning_effort="low", json_schema=SCHEMA)
    request = RESPONSES.request("m", ASK, sampling, max_tokens_field="max_tokens")
    assert request["max_output_tokens"] == 9 and request["reasoning"] == {"effort": "low"}
    assert request["input"][1] == {"role": "user", "content": "2 + 2?"}
    assert request["text"]["format"]["schema"] == SCHEMA and request["store"] is False


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "four"}, "four", ""),
        ({"content": None}, "", ""),
        ({"content": [{"type": "text", "text": "fo"}, {"type": "text", "text": "ur"}]}, "four", ""),
        ({"content": None, "refusal": "I will not."}, "I will not.", ""),
        ({"content": "four", "reasoning_content": "2+2"}, "four", "2+2"),
        ({"content": "four", "reasoning": "2+2"}, "four", "2+2"),
        ({"content": "a\ud800b"}, "a\ufffdb", ""),
        ({"content": "a\ud83d\ude00b"}, "a\U0001f600b", ""),
        ({"content": 4}, "", ""),
    ],
)
def test_a_chat_reply_is_read_in_all_its_shapes(message, text, reasoning):
    said = CHAT.read(chat(message))
    assert (said.text, said.reasoning, said.is_cut) == (text, reasoning, False)


def test_a_chat_reply_that_reached_its_limit_is_cut():
    assert CHAT.read(chat({"content": "fo"}, finish_reason="length")).is_cut


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": ["four"]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"finish_reason": "stop", "message": "four"}]},
        {"choices": [{"message": {"content": "The answer is 4"}}]},
    ],
)
def test_what_lacks_an_answer_or_a_reason_to_end_is_no_chat_reply(body):
    with pytest.raises(BrokenReply):
        CHAT.read(body)


def test_a_responses_reply_is_its_messages_and_the_summary_of_its_thoughts():
    body = {
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "2+2"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "four"}]},
        ],
    }
    said = RESPONSES.read(body)
    assert (said.text, said.reasoning, said.is_cut) == ("four", "2+2", False)


def test_a_responses_reply_that_thought_up_all_its_tokens_is_cut_and_empty():
    said = RESPONSES.read({"status": "incomplete", "output": [{"type": "reasoning"}]})
    assert (said.text, said.is_cut) == ("", True)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "failed", "output": []},
        {"status": "completed", "output": None},
        {"status": "completed", "output": [{"type": "reasoning"}]},
    ],
)
def test_what_is_not_done_or_holds_no_message_is_no_responses_reply(body):
    with pytest.raises(BrokenReply):
        RESPONSES.read(body)
