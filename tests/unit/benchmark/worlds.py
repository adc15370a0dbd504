"""A small world of simulated experts whose odds are easy to see through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolorchestra.benchmark.world import World
from toolorchestra.tool.config import Odds, ToolConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.types import Episode, OfferedTool, Preference, Price, Task, ToolResult, Turn

FREE = Price(source="made up", date="2026-01-01")

PROFILES = {
    "strong": {"math": Odds(right=0.95), "logic": Odds(right=0.9)},
    "weak": {"math": Odds(right=0.4, abstain=0.3)},
    "free": {"logic": Odds(right=0.2)},
}
COSTS_USD = {"strong": 0.1, "weak": 0.01, "free": 0.0}


def tool_config(kind: str = "llm", profile: dict[str, Odds] | None = None) -> ToolConfig:
    return ToolConfig(
        kind=kind, description="Thinks.", priced_as="x", latency_s=1.0, profile=profile or {}
    )


def make_world(*, has_domains: bool = False, **changes: Any) -> World:
    tools = {name: tool_config(profile=profile) for name, profile in PROFILES.items()}
    fields: dict[str, Any] = {"name": "made up", "tools": tools, "min_tools": 1, "max_tools": 3}
    toolset = ToolsetConfig(**(fields | changes))
    return World(toolset, horizon=3, has_domains=has_domains)


def make_episode(skill: str = "math", **changes: Any) -> Episode:
    tools = tuple(
        OfferedTool(
            name=name,
            shown_as=f"sim/{name}",
            description="",
            parameters={},
            priced_as=(name,),
            price=replace(FREE, usd_per_call=cost_usd),
            call_cost_usd=cost_usd,
            latency_s=1.0,
        )
        for name, cost_usd in COSTS_USD.items()
    )
    fields: dict[str, Any] = {
        "id": "heldout-000000",
        "seed": 0,
        "task": Task(id="t", skill=skill, question="What is 2 + 2?", answer="4"),
        "tools": tools,
        "pricing": "official",
        "policy_priced_as": ("policy",),
        "policy_price": FREE,
        "preference": Preference(
            kind="balanced", instruction="", outcome=1.0, cost=0.5, latency=0.25
        ),
        "is_solvable": True,
    }
    return Episode(**(fields | changes))


def result(name: str, content: str, status: Any = "ok", **changes: Any) -> ToolResult:
    return ToolResult(call_id="c", name=name, content=content, status=status, **changes)


def turn(*results: ToolResult, **changes: Any) -> Turn:
    fields: dict[str, Any] = {
        "prompt_tokens": 10,
        "completion_ids": (1,),
        "logprobs": (0.0,),
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
