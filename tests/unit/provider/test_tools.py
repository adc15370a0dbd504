"""Native tool calls in Chat Completions: what is asked, and what a reply asks for."""

from __future__ import annotations

import pytest
from tests.unit.engine.chat_api import call, chat_api, plan_of, says

from toolorchestra.provider.base import FunctionCall, Message, Sampling
from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.dialect import DIALECTS, BrokenReply
from toolorchestra.provider.providers import Providers

CHAT = DIALECTS["chat"]
SCHEMA = {"type": "function", "function": {"name": "ask", "description": "", "parameters": {}}}
HISTORY = [
    Message(role="user", content="2 + 2?"),
    Message(
        role="assistant",
        content="",
        reasoning="hm",
        calls=(FunctionCall(id="call_0", name="ask", arguments="{}"),),
    ),
    Message(role="tool", content="4", call_id="call_0"),
]


def request(messages=HISTORY, **sampling):
    return CHAT.request("big", messages, Sampling(**sampling), max_tokens_field="max_tokens")


def test_a_request_holds_calls_and_results_by_id_and_the_tools():
    assert request(tools=(SCHEMA,), parallel_calls=False) == {
        "model": "big",
        "messages": [
            {"role": "user", "content": "2 + 2?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_0",
                        "type": "function",
                        "function": {"name": "ask", "arguments": "{}"},
                    }
                ],
                "reasoning_content": "hm",
            },
            {"role": "tool", "content": "4", "tool_call_id": "call_0"},
        ],
        "tools": [SCHEMA],
        "parallel_tool_calls": False,
    }


def test_nothing_is_said_of_tools_where_there_are_none():
    assert request(HISTORY[:1], parallel_calls=True).keys() == {"model", "messages"}
    assert "parallel_tool_calls" not in request(tools=(SCHEMA,))


def test_a_reply_holds_its_calls_as_the_model_wrote_them():
    said = CHAT.read(says("so", call("ask", '{"q": ', "a"), call("", {"q": 1}), call("b", None)))
    assert said.text == "so" and not said.is_cut and not said.is_filtered
    assert said.calls == (
        FunctionCall(id="a", name="ask", arguments='{"q": '),
        FunctionCall(id="x", name="", arguments='{"q": 1}'),
        FunctionCall(id="x", name="b", arguments=""),
    )


@pytest.mark.parametrize("broken", [{"id": "x"}, {"function": {"arguments": "{}"}}, "ask"])
def test_a_call_without_a_function_is_no_reply(broken):
    with pytest.raises(BrokenReply, match="a call without a function"):
        CHAT.read(says(None, broken))


def test_a_filter_that_ended_a_reply_is_told():
    assert CHAT.read(says("so", finish="content_filter")).is_filtered


async def test_an_estimate_counts_tools_history_and_calls():
    answer = says(None, call("ask", '{"q": "twelve chars"}'), usage=None)
    async with chat_api(plan_of(answer)) as server:
        mine = ProviderConfig(base_url=server.url)
        providers = Providers(ProvidersConfig(name="test", providers={"mine": mine}))
        reply = await providers.client("mine", "big").complete(
            HISTORY, sampling=Sampling(tools=(SCHEMA,)), deadline_s=20
        )
        await providers.close()
    # "2 + 2?" + "hm" + "ask{}" + "4", then the schema, are 14 + 86 characters; 24 came back
    assert len(str(SCHEMA)) == 86
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (25, 6)
    assert reply.usage.is_estimated and reply.usage.num_requests == 1
