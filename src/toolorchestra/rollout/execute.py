"""Carries out one turn's tool calls: checked, at once, each under a deadline, and priced."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolorchestra.chat.arguments import check_arguments, unknown_tool
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.provider.cassette import calling
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.types import Episode, Json, OfferedTool, ToolCall, ToolResult, Turn


async def execute(
    calls: Sequence[ToolCall],
    *,
    episode: Episode,
    tools: Mapping[str, Tool],
    counts: Counter[str],
    session: str,
    turns: Sequence[Turn],
    timeout_s: float,
) -> tuple[ToolResult, ...]:
    """Runs the calls concurrently and returns their results in the calls' order.

    A call of a tool that is not offered, or with arguments that do not fit, comes back as a
    "policy_error" marked malformed; nothing is run for it. `counts` holds how often each tool was
    called before in this rollout, and is brought up to date. What a tool raises is a bug, hence
    raised here, with the turn's other calls cancelled: no reward may come of it.
    """
    offered = {tool.name: tool for tool in episode.tools}
    pending: list[ToolResult | asyncio.Task[ToolResult]] = []
    try:
        async with asyncio.TaskGroup() as tasks:
            for call in calls:
                known = offered.get(call.name)
                if known is None:
                    pending.append(refused(call, unknown_tool(call, offered).message))
                elif error := check_arguments(call, known.parameters):
                    pending.append(refused(call, error.message))
                else:
                    number, counts[call.name] = counts[call.name], counts[call.name] + 1
                    context = CallContext(
                        episode=episode,
                        call_id=call.id,
                        call_number=number,
                        session=session,
                        turns=turns,
                    )
                    run = _run(tools[call.name], known, call.arguments, context, timeout_s)
                    pending.append(tasks.create_task(run))
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return tuple(item if isinstance(item, ToolResult) else item.result() for item in pending)


def refused(call: ToolCall, message: str) -> ToolResult:
    """The result of a call for which nothing was run, as it was malformed or impossible."""
    return ToolResult(
        call_id=call.id,
        name=call.name,
        content=f"error: {message}",
        status="policy_error",
        metadata={"malformed": True},
    )


async def _run(
    tool: Tool, offered: OfferedTool, arguments: Json, context: CallContext, timeout_s: float
) -> ToolResult:
    try:
        caller = f"{context.session}/{offered.name}/{context.call_number}"
        async with asyncio.timeout(timeout_s) as deadline:
            with calling(caller):
                result = await tool.call(arguments, context)
    except TimeoutError:
        if not deadline.expired():
            raise
        result = ToolResult(
            call_id=context.call_id,
            name=offered.name,
            content=f"error: no answer within {timeout_s:g} s",
            status="provider_error",
            latency_s=timeout_s,
        )
    return replace(result, cost_usd=cost_usd(result.usage, offered.price))
