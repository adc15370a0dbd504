import asyncio
from collections import Counter

import pytest
from tests.unit.rollout.stage import FakeTool, make_episode

from toolorchestra.rollout.execute import execute
from toolorchestra.types import ToolCall

LONG_S = 500.0


async def run(calls, tools, *, counts=None, timeout_s=60.0):
    calls = [
        ToolCall(id=f"call_{i}", name=name, arguments=arguments)
        for i, (name, arguments) in enumerate(calls)
    ]
    return await execute(
        calls,
        episode=make_episode(*(tool.name for tool in tools)),
        tools={tool.name: tool for tool in tools},
        counts=Counter() if counts is None else counts,
        session="episode-0/0",
        turns=(),
        timeout_s=timeout_s,
    )


async def test_no_calls_give_no_results():
    assert await run([], [FakeTool()]) == ()


async def test_results_come_in_the_order_of_the_calls_whoever_is_done_first():
    slow, fast = FakeTool("slow", pause_s=0.05), FakeTool("fast")
    results = await run([("slow", {}), ("fast", {}), ("slow", {})], [slow, fast])
    assert [r.name for r in results] == ["slow", "fast", "slow"]
    assert [r.call_id for r in results] == ["call_0", "call_1", "call_2"]


async def test_calls_of_a_turn_run_at_once():
    barrier = asyncio.Barrier(3)  # nobody passes before all three are there

    class Meeting(FakeTool):
        async def call(self, arguments, context):
            await barrier.wait()
            return await super().call(arguments, context)

    results = await run([("a", {}), ("b", {}), ("a", {})], [Meeting("a"), Meeting("b")])
    assert [result.status for result in results] == ["ok"] * 3


async def test_each_call_is_priced_by_its_usage_and_its_tools_price():
    (result,) = await run([("ask", {})], [FakeTool()])
    assert result.cost_usd == pytest.approx(0.01 + 100 * 2.0 / 1e6)


async def test_call_numbers_count_the_calls_of_each_tool_over_all_turns():
    a, b, counts = FakeTool("a"), FakeTool("b"), Counter()
    await run([("a", {}), ("b", {}), ("a", {})], [a, b], counts=counts)
    await run([("a", {})], [a, b], counts=counts)
    assert [context.call_number for context in a.contexts] == [0, 1, 2]
    assert [context.call_number for context in b.contexts] == [0]
    assert a.contexts[0].session == "episode-0/0"


@pytest.mark.parametrize(
    "name, arguments, said",
    [
        ("nope", {}, 'there is no tool "nope"; the tools are: ask'),
        ("ask", {"question": 3}, "use type"),
        ("ask", {"q": "x"}, "'q' not allowed; use 'question'"),
    ],
)
async def test_a_call_that_cannot_run_is_refused_with_the_reason_and_costs_nothing(
    name, arguments, said
):
    tool, counts = FakeTool(), Counter()
    refused, ran = await run([(name, arguments), ("ask", {})], [tool], counts=counts)
    assert refused.status == "policy_error"
    assert refused.metadata["malformed"]
    assert refused.content.startswith("error: ") and said in refused.content
    assert (refused.cost_usd, refused.latency_s) == (0, 0)
    assert ran.status == "ok"
    assert [context.call_number for context in tool.contexts] == [0]
    assert counts == {"ask": 1}


async def test_a_hanging_tool_meets_its_deadline_and_others_of_the_turn_do_not():
    tools = [FakeTool("hangs", pause_s=LONG_S), FakeTool("works")]
    late, fine = await run([("hangs", {}), ("works", {})], tools, timeout_s=0.3)
    assert (late.status, late.latency_s) == ("provider_error", 0.3)
    assert "no answer within 0.3 s" in late.content
    assert late.cost_usd == 0.01  # the call was made, and is paid for by the call
    assert fine.status == "ok"
    assert tools[0].num_cancelled == 1


async def test_a_bug_in_a_tool_is_raised_and_ends_the_turns_other_calls():
    tools = [FakeTool("broken", fault=KeyError("bug")), FakeTool("busy", pause_s=LONG_S)]
    with pytest.raises(KeyError, match="bug"):
        await run([("busy", {}), ("broken", {})], tools)
    assert (tools[1].num_cancelled, tools[1].num_running) == (1, 0)


async def test_a_tools_own_timeout_error_is_a_bug_not_a_missed_deadline():
    with pytest.raises(TimeoutError, match="mine"):
        await run([("ask", {})], [FakeTool(fault=TimeoutError("mine"))])


async def test_cancelling_a_turn_cancels_its_calls():
    tool = FakeTool(pause_s=LONG_S)
    turn = asyncio.create_task(run([("ask", {}), ("ask", {})], [tool]))
    while tool.num_running < 2:
        await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert (tool.num_cancelled, tool.num_running) == (2, 0)
