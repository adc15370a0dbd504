"""The user's own calls, on the database that it shares with the policy."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.domain.environment import Environment
from toolorchestra.domain.fault import DomainBug
from toolorchestra.types import ResultStatus, ToolCall, ToolResult, Turn


def first_call_number(turns: Sequence[Turn]) -> int:
    """The number of the user's next call in a rollout, from 0."""
    return sum(len(turn.user.calls) for turn in turns if turn.user is not None)


def call_id(number: int) -> str:
    """Names one of the user's calls; the policy's have other names."""
    return f"user_call_{number}"


def act(environment: Environment, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
    """Carries out calls in their order, also where one before them failed."""
    return tuple(_act(environment, call) for call in calls)


def _act(environment: Environment, call: ToolCall) -> ToolResult:
    status: ResultStatus = "ok"
    try:
        outcome = environment.call(call.name, call.arguments, by="user")
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
