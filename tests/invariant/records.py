"""Makers of rollouts by hand: only what a reward or a filter reads is filled in."""

from __future__ import annotations

from typing import Any

from toolorchestra.types import (
    Episode,
    LedgerEntry,
    Measures,
    OfferedTool,
    Preference,
    Price,
    Rollout,
    Task,
    ToolResult,
    Turn,
    Usage,
    Verdict,
)

FREE = Price(source="made up", date="2026-01-01")
SOLVED = Verdict(is_solved=True, decided_by="test")
FAILED = Verdict(is_solved=False, decided_by="test")
UNDECIDED = Verdict(is_solved=None, decided_by="judge")


def result(name: str, latency_s: float = 0.0, **changes: Any) -> ToolResult:
    fields: dict[str, Any] = {"call_id": "c", "name": name, "content": "", "status": "ok"}
    return ToolResult(**(fields | {"latency_s": latency_s} | changes))


def turn(*results: ToolResult, **changes: Any) -> Turn:
    fields: dict[str, Any] = {
        "prompt_tokens": 10,
        "completion_ids": (1,),
        "logprobs": (-0.5,),
        "version": 0,
        "finish_reason": "stop",
        "text": "",
        "thinking": "",
        "calls": (),
        "errors": (),
        "results": results,
        "policy_cost_usd": 0.0,
    }
    return Turn(**(fields | changes))


def entry(kind: Any, cost_usd: float, name: str = "a", turn: int = 0) -> LedgerEntry:
    return LedgerEntry(
        kind=kind,
        name=name,
        priced_as=(name,),
        usage=Usage(),
        cost_usd=cost_usd,
        latency_s=0.0,
        turn=turn,
    )


def rollout(*turns: Turn, ledger: tuple[LedgerEntry, ...] = (), **changes: Any) -> Rollout:
    fields: dict[str, Any] = {
        "episode_id": "episode-0",
        "sample": 0,
        "status": "answered",
        "turns": turns,
        "rows": (),
        "answer": "4",
        "ledger": ledger,
    }
    return Rollout(**(fields | changes))


def spender(cost_usd: float, *, sample: int = 0, **changes: Any) -> Rollout:
    """One call of tool "a" for that many dollars, then an answer."""
    ledger = (entry("tool", cost_usd),)
    return rollout(turn(result("a")), turn(text="4"), ledger=ledger, sample=sample, **changes)


def preference(
    outcome: float = 0.0, cost: float = 0.0, latency: float = 0.0, **tools: float
) -> Preference:
    return Preference(
        kind="test", instruction="", outcome=outcome, cost=cost, latency=latency, tools=tools
    )


def tool(name: str, call_cost_usd: float = 0.01, latency_s: float = 1.0) -> OfferedTool:
    return OfferedTool(
        name=name,
        shown_as=name,
        description="",
        parameters={},
        priced_as=(name,),
        price=FREE,
        call_cost_usd=call_cost_usd,
        latency_s=latency_s,
    )


def episode(*tools: OfferedTool, wanted: Preference | None = None) -> Episode:
    return Episode(
        id="episode-0",
        seed=0,
        task=Task(id="task-0", skill="math", question="What is 2 + 2?", answer="4"),
        tools=tools or (tool("a"), tool("b")),
        pricing="official",
        policy_priced_as=("policy",),
        policy_price=FREE,
        preference=wanted or preference(outcome=1.0),
        is_solvable=True,
    )


def measures(
    outcome: float = 1.0, cost_usd: float = 0.0, latency_s: float = 0.0, **counts: int
) -> Measures:
    return Measures(
        tool_counts={"a": 0, "b": 0} | counts,
        outcome=outcome,
        cost_usd=cost_usd,
        latency_s=latency_s,
    )
