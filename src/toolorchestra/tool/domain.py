"""The functions of a task's domain as tools: they work on the rollout's own database.

One tool serves a function's name in all domains: the episode's task says which is meant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from toolorchestra.domain.aside import aside
from toolorchestra.domain.catalogue import SHIPPED_ALONE, Catalogue
from toolorchestra.domain.environment import CallOutcome, Environment
from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.goal import goal_of
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.types import Json, ResultStatus, ToolResult


class Environments:
    """The environments of the rollouts under way, shared by all functions."""

    def __init__(self) -> None:
        self._by_session: dict[str, Environment] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def call(self, name: str, arguments: Json, context: CallContext) -> CallOutcome:
        """Call a function in the caller's environment; calls of one rollout never overlap.

        Raises:
            DomainBug: The function is broken.
        """
        goal = goal_of(context.episode.task)
        assert goal is not None, "only tasks of domains are offered their functions"
        async with self._turns.setdefault(context.session, asyncio.Lock()):
            environment = self.of(context)
            return await aside(goal.domain, lambda: environment.call(name, arguments))

    def of(self, context: CallContext) -> Environment:
        """The caller's own environment, made at its first call."""
        if context.session not in self._by_session:
            goal = goal_of(context.episode.task)
            assert goal is not None, "only tasks of domains are offered their functions"
            self._by_session[context.session] = goal.domain.begin(goal.task)
        return self._by_session[context.session]

    def release(self, session: str) -> None:
        """Forgets the environment of a rollout, where it has one."""
        self._by_session.pop(session, None)
        self._turns.pop(session, None)

    def __len__(self) -> int:
        return len(self._by_session)


class DomainTool:
    """A function of the task's domain."""

    def __init__(self, name: str, environments: Environments) -> None:
        self._name, self._environments = name, environments

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Call the function. What it cannot do is told to the policy; a bug voids the rollout."""
        status: ResultStatus = "ok"
        try:
            outcome = await self._environments.call(self._name, arguments, context)
        except DomainBug as bug:
            status, content = "provider_error", f"error: {bug}"
        else:
            status = "ok" if outcome.is_ok else "policy_error"
            content = outcome.content if outcome.is_ok else f"error: {outcome.content}"
        offered = {tool.name: tool for tool in context.episode.tools}
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=content,
            status=status,
            latency_s=offered[self._name].latency_s,
        )

    async def close_session(self, session: str) -> None:
        """Release the rollout's environment."""
        self._environments.release(session)

    async def close(self) -> None:
        """There is nothing to release."""


def domain_tools(
    domains: Iterable[str], *, catalogue: Catalogue = SHIPPED_ALONE
) -> dict[str, Tool]:
    """Every function of these domains as a tool, by name.

    Args:
        domains: Their names.
        catalogue: Where they are found.

    Raises:
        ValueError: there is no such domain, or it cannot be loaded.
    """
    environments = Environments()
    names = {name for domain in domains for name in catalogue.load(domain).functions}
    return {name: DomainTool(name, environments) for name in sorted(names)}
