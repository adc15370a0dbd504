"""Carries out one turn's tool calls: checked, at once, each under a deadline, and priced."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolorchestra.chat.arguments import check_arguments, unknown_tool
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.types import Episode, Json, OfferedTool, ToolCall, ToolResult


async def execute(
    calls: Sequence[ToolCall],
    *,
    episode: Episode,
    tools: Mapping[str, Tool],
    counts: Counter[str],
    session: str,
    timeout_s: float,
) -> tuple[ToolResult, ...]:
    """Runs the calls concurrently and returns their results in the calls' order.

    A call of a tool that is not offered, or with arguments that do not fit, comes back as a
    "policy_error" marked malformed; nothing is run for it. `counts` holds how often each tool was
    called before in this rollout, and is brought up to date.
    """
    offered = {tool.name: tool for tool in episode.tools}
    pending = []
    for call in calls:
        known = offered.get(call.name)
        error = check_arguments(call, known.parameters) if known else unknown_tool(call, offered)
        if error is not None:
            pending.append(_refuse(call, error.message))
            continue
        context = CallContext(
            episode=episode, call_id=call.id, call_number=counts[call.name], session=session
        )
        counts[call.name] += 1
        arguments = call.arguments
        pending.append(_run(tools[call.name], offered[call.name], arguments, context, timeout_s))
    return tuple(await asyncio.gather(*pending))


async def _refuse(call: ToolCall, message: str) -> ToolResult:
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
        async with asyncio.timeout(timeout_s):
            result = await tool.call(arguments, context)
    except TimeoutError:
        return ToolResult(
            call_id=context.call_id,
            name=offered.name,
            content=f"error: no answer within {timeout_s:g} s",
            status="provider_error",
            latency_s=timeout_s,
        )
    return replace(result, cost_usd=cost_usd(result.usage, offered.price))
