"""The user's own calls, on the database that it shares with the policy."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.domain.fault import DomainBug
from toolorchestra.tool.domain import Environments
from toolorchestra.types import ResultStatus, Task, ToolCall, ToolResult, Turn


def first_call_number(turns: Sequence[Turn]) -> int:
    """The number of the user's next call in a rollout, from 0."""
    return sum(len(turn.user.calls) for turn in turns if turn.user is not None)


def call_id(number: int) -> str:
    """Names one of the user's calls; the policy's have other names."""
    return f"user_call_{number}"


async def act(
    calls: Sequence[ToolCall], environments: Environments, *, session: str, task: Task
) -> list[ToolResult]:
    """Carries out calls in a rollout, in their order, also where one before them failed."""
    return [await _act(call, environments, session, task) for call in calls]


async def _act(call: ToolCall, environments: Environments, session: str, task: Task) -> ToolResult:
    status: ResultStatus = "ok"
    try:
        outcome = await environments.call(
            call.name, call.arguments, session=session, task=task, by="user"
        )
    except DomainBug as bug:
        status, content = "provider_error", f"error: {bug}"
    else:
        status = "ok" if outcome.is_ok else "policy_error"
        content = outcome.content if outcome.is_ok else f"error: {outcome.content}"
    return ToolResult(call_id=call.id, name=call.name, content=content, status=status)


def fault_in(results: Sequence[ToolResult]) -> str:
    """What is wrong with the domain itself, which voids the rollout; empty: nothing."""
    faults = (r.content for r in results if r.status == "provider_error")
    return next(faults, "")
