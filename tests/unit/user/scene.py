"""Conversations at the lockers: a small domain whose user has functions of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from tests.unit.rollout.stage import make_episode

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.domain.load import load_package
from toolorchestra.tool.base import Tool
from toolorchestra.tool.domain import DomainTool, Environments
from toolorchestra.toolset.offer import offer_function
from toolorchestra.types import Episode, Turn, UserMessage

LATENCY_S = 0.5
READ = {"name": "read_slip", "arguments": {"locker_id": "L1"}}
OPEN = {"name": "open_locker", "arguments": {"locker_id": "L1"}}


@cache
def locker_domain() -> Domain:
    return load_package("tests.unit.user.locker")


def install(monkeypatch: pytest.MonkeyPatch) -> Domain:
    """Has the lockers be a domain that ships."""
    domain = locker_domain()
    monkeypatch.setattr("toolorchestra.domain.goal.load_shipped", {"locker": domain}.__getitem__)
    return domain


def locker_tools(environments: Environments) -> dict[str, Tool]:
    return {name: DomainTool(name, environments) for name in locker_domain().functions}


def locker_episode(task: str = "stuck", **changes: Any) -> Episode:
    """The episode of a task, not yet opened by its user."""
    domain = locker_domain()
    goal = Goal(domain=domain, task=domain.tasks[task])
    tools = tuple(offer_function(f, latency_s=LATENCY_S) for f in domain.functions.values())
    return replace(make_episode(), task=as_task(goal), tools=tools, **changes)


def called(name: str, **arguments: Any) -> str:
    """A message that calls a function."""
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{call}\n</tool_call>"


RELEASE = called("release", locker_id="L1", slip="4711")


def said(text: str, user: UserMessage | None = None) -> Turn:
    """A turn whose message calls nothing, and what the user answered."""
    return Turn(
        prompt_tokens=10,
        completion_ids=(1,),
        logprobs=(-0.5,),
        version=0,
        finish_reason="stop",
        text=text,
        thinking="",
        calls=(),
        errors=(),
        results=(),
        policy_cost_usd=0.0,
        user=user,
    )


def with_reply(turns: Sequence[Turn], message: UserMessage) -> list[Turn]:
    """The turns, the last of them answered by the user."""
    return [*turns[:-1], replace(turns[-1], user=message)]
