"""Rollouts of a policy behind an API: the loop, tools and bills of any other, over real HTTP."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.unit.engine.chat_api import USAGE, call, chat_api, cut_off, fails, plan_of, says
from tests.unit.rollout.stage import LIMITS, POLICY_PRICE, FakeTool, make_episode, speaker

from toolorchestra.chat.history import said_in
from toolorchestra.codec import from_json, to_json
from toolorchestra.engine.api import ApiEngine
from toolorchestra.model.config import ApiConfig
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.config import CassetteConfig, ProviderConfig, ProvidersConfig
from toolorchestra.provider.providers import Providers
from toolorchestra.reward.measures import latency_s
from toolorchestra.rollout.loop import run_rollout
from toolorchestra.rollout.spending import BudgetSpent, Spending
from toolorchestra.types import Rollout, Usage

ANSWER = says("answer: 4")


@asynccontextmanager
async def engine_at(url: str, *, cassette=CassetteConfig(), deadline_s=20.0, **api):  # noqa: B008
    """The engine of a model that is served there."""
    mine = ProviderConfig(base_url=url, retry_first_s=0.001)
    providers = Providers(
        ProvidersConfig(name="test", providers={"mine": mine}), Cassette(cassette)
    )
    yield ApiEngine(
        providers.client("mine", "big"),
        ApiConfig(provider="mine", **api),
        system_prompt="Solve the task.",
        tool_style="full",
        deadline_s=deadline_s,
    )
    await providers.close()


async def rollout(engine, *, tools=(), episode=None, **limits) -> Rollout:
    tools = tools or (FakeTool(),)
    return await run_rollout(
        episode or make_episode(*(tool.name for tool in tools)),
        0,
        engine=engine,
        speaker=replace(speaker(), is_native=True),
        tools={tool.name: tool for tool in tools},
        limits=replace(LIMITS, **limits),
    )


async def played(*replies, tools=(), episode=None, api=None, limits=None):
    """A rollout in which the model says these, and the requests that it was sent."""
    async with chat_api(plan_of(*replies)) as server, engine_at(server.url, **(api or {})) as mine:
        done = await rollout(mine, tools=tools, episode=episode, **(limits or {}))
    return done, server.requests


async def test_an_answer_in_one_message_ends_the_rollout_without_any_ids():
    done, (request,) = await played(ANSWER)
    assert (done.status, done.answer) == ("answered", "answer: 4")
    (turn,) = done.turns
    assert (turn.text, turn.completion_ids, turn.is_native) == ("answer: 4", (), True)
    assert turn.prompt_tokens == 100 and done.rows == ()
    assert request == {
        "model": "big",
        "messages": [
            {"role": "system", "content": "Solve the task."},
            {"role": "user", "content": "What is 2 + 2?"},
        ],
        "max_tokens": 400,
        "temperature": 1.0,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "ask",
                    "description": "Answers. 1 cent, 3 s.",
                    "parameters": {
                        "type": "object",
                        "properties": {"question": {"type": "string"}},
                        "required": [],
                        "additionalProperties": False,
                    },
                },
            }
        ],
    }


async def test_parallel_calls_run_at_once_and_come_back_by_id():
    one, two = FakeTool("one", pause_s=0.02), FakeTool("two", content="answer: 5")
    calls = (call("one", '{"question": "2?"}', "same"), call("two", "{}", "same"))
    done, requests = await played(says("Both.", *calls), ANSWER, tools=(one, two))
    assert one.arguments == [{"question": "2?"}] and two.arguments == [{}]
    assert [result.name for result in done.turns[0].results] == ["one", "two"]
    assert requests[1]["messages"][2:] == [
        {
            "role": "assistant",
            "content": "Both.",
            "tool_calls": [
                call("one", '{"question": "2?"}', "call_0"),
                call("two", "{}", "call_1"),
            ],
        },
        {"role": "tool", "content": "answer: 4", "tool_call_id": "call_0"},
        {"role": "tool", "content": "answer: 5", "tool_call_id": "call_1"},
    ]


async def test_a_malformed_call_is_the_policys_fault_and_the_others_run():
    tool = FakeTool()
    calls = (call("ask", '{"question": '), call("ask", '{"question": 2}'), call("nobody"))
    done, requests = await played(says(None, *calls, call("ask")), ANSWER, tools=(tool,))
    assert done.status == "answered" and tool.arguments == [{}]
    results = {result.call_id: result for result in done.turns[0].results}
    faulty = [results[f"call_{number}"] for number in range(3)]
    assert all(r.status == "policy_error" and r.metadata["malformed"] for r in faulty)
    assert results["call_3"].status == "ok"
    told = [m["content"] for m in requests[1]["messages"] if m["role"] == "tool"]
    assert [len(text) > 0 for text in told] == [True] * 4
    assert "not valid JSON" in told[0] and "question" in told[1] and "nobody" in told[2]
    assert [e.name for e in done.ledger] == ["policy", "ask", "policy"]


async def test_text_that_looks_like_a_call_runs_nothing_and_is_the_answer():
    tool, text = FakeTool(), '<tool_call>\n{"name": "ask", "arguments": {}}\n</tool_call>'
    done, _ = await played(says(text), tools=(tool,))
    assert (done.status, done.answer, tool.arguments) == ("answered", text, [])
    assert said_in(done.turns[0]) == text


async def test_the_bill_is_the_providers_report_at_the_policys_price():
    done, _ = await played(says(None, call("ask")), ANSWER)
    mine = [entry for entry in done.ledger if entry.kind == "policy"]
    reported = Usage(
        input_tokens=100,
        output_tokens=20,
        cached_input_tokens=60,
        reasoning_tokens=8,
        num_requests=1,
    )
    assert [entry.usage for entry in mine] == [reported, reported]
    # (40 x 1.0 + 60 x 0.1 + 20 x 4.0) / 1e6
    assert [entry.cost_usd for entry in mine] == [pytest.approx(126e-6)] * 2
    assert cost_usd(reported, POLICY_PRICE) == mine[0].cost_usd == done.turns[0].policy_cost_usd
    assert [entry.priced_as for entry in mine] == [("policy",)] * 2
    assert all(0 < entry.latency_s < 5 for entry in mine)
    assert latency_s(done) == pytest.approx(3.0 + sum(entry.latency_s for entry in mine))


async def test_usage_that_is_not_reported_is_an_estimate_and_says_so():
    done, _ = await played(says("answer: 4", usage=None))
    (entry,) = done.ledger
    assert entry.usage.is_estimated and entry.usage.output_tokens == 3  # 9 characters


async def test_a_fault_that_goes_away_is_asked_again_and_its_usage_counts():
    broken = {"error": {"code": 500, "message": "x"}, "usage": USAGE}
    done, requests = await played(lambda: fails(429, "rate_limit"), broken, cut_off, ANSWER)
    assert done.status == "answered" and len(requests) == 4
    (entry,) = done.ledger
    assert entry.usage.num_requests == 4 and entry.usage.input_tokens == 200


@pytest.mark.parametrize("status", [401, 400, 503])
async def test_a_fault_that_stays_voids_the_rollout_and_what_it_used_is_billed(status):
    api = {"deadline_s": 0.1}
    done, requests = await played(
        says(None, call("ask")), lambda: fails(status, "some_code"), api=api
    )
    assert (done.status, done.answer) == ("void", None) and done.fault.startswith("engine: ")
    assert [entry.name for entry in done.ledger] == ["policy", "ask", "policy"]
    asked = sum(entry.usage.num_requests for entry in done.ledger)
    assert asked - len(requests) in (0, 1)  # the deadline may end one on its way


@pytest.mark.parametrize(
    ("reply", "status", "finish"),
    [
        (says("so", call("ask"), finish="length"), "truncated", "length"),
        (says("so", call("ask"), finish="content_filter"), "truncated", "content_filter"),
        (lambda: fails(400, "context_length_exceeded"), "context_full", "length"),
        (lambda: fails(400, "content_filter"), "truncated", "content_filter"),
    ],
)
async def test_a_message_that_is_cut_ends_the_rollout_and_runs_nothing(reply, status, finish):
    tool = FakeTool()
    done, requests = await played(reply, tools=(tool,))
    assert (done.status, done.turns[0].finish_reason) == (status, finish)
    assert (done.answer, tool.arguments, len(requests)) == (None, [], 1)


async def test_a_conversation_that_the_provider_counts_as_too_long_ends_before_it_is_asked_again():
    usage = USAGE | {"prompt_tokens": 7990}
    done, requests = await played(says(None, call("ask"), usage=usage), ANSWER)
    assert done.status == "context_full" and len(requests) == 1
    usage = USAGE | {"prompt_tokens": 7900}
    done, requests = await played(says(None, call("ask"), usage=usage), ANSWER)
    # 8000 are allowed: 7900 were read and 12 said, 8 of 20 being thoughts
    assert done.status == "answered" and requests[1]["max_tokens"] == 88


async def test_options_say_what_is_sent():
    api = {"parallel_calls": False, "reasoning_effort": "low", "sends_reasoning": True}
    thinks = says(None, call("ask"), reasoning_content="hm")
    _, requests = await played(thinks, ANSWER, api=api, limits={"temperature": 0.0})
    assert requests[0]["temperature"] == 0.0 and requests[0]["reasoning_effort"] == "low"
    assert requests[0]["parallel_tool_calls"] is False
    assert requests[1]["messages"][2]["reasoning_content"] == "hm"
    _, requests = await played(
        thinks, ANSWER, api={"temperature": None}, limits={"temperature": 0.0}
    )
    assert "temperature" not in requests[0]
    assert "reasoning_content" not in requests[1]["messages"][2]


async def test_without_tools_none_are_sent_and_the_model_answers_alone():
    done, (request,) = await played(ANSWER, episode=make_episode(tools=()))
    assert done.status == "answered" and "tools" not in request


async def test_a_rollouts_budget_holds_for_an_api_too():
    done, requests = await played(says(None, call("ask")), limits={"max_cost_usd": 1e-4})
    assert done.status == "over_budget" and len(requests) == 1


async def test_what_an_api_was_paid_counts_towards_what_a_run_may_pay():
    done, _ = await played(ANSWER)
    spending = Spending(1e-4)
    spending.add(done.ledger)
    with pytest.raises(BudgetSpent):
        spending.check()


async def test_a_replay_gives_the_same_rollout_without_a_server(tmp_path):
    tape = tmp_path / "tape.jsonl"
    replies = (says(None, call("ask", "[")), says("Hm.", call("ask")), ANSWER)
    record = CassetteConfig(mode="record", path=str(tape))
    done, _ = await played(*replies, api={"cassette": record})
    replay = CassetteConfig(mode="replay", path=str(tape))
    async with engine_at("http://127.0.0.1:9/v1", cassette=replay) as mine:
        again = await rollout(mine)
    assert replace(again, wall_s=0.0) == replace(done, wall_s=0.0)


async def test_a_rollout_reads_back_as_it_was_written():
    done, _ = await played(says(None, call("ask", "[")), ANSWER)
    assert from_json(Rollout, to_json(done)) == done
