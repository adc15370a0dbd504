"""The functions of a task's domain as tools: they work on the rollout's own database.

One tool serves a function's name in all domains: the episode's task says which is meant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from toolorchestra.domain.aside import aside
from toolorchestra.domain.catalogue import SHIPPED_ALONE, Catalogue
from toolorchestra.domain.environment import CallOutcome
from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.kinds import AnyEnvironment
from toolorchestra.domain.task import Party
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.types import Json, ResultStatus, Task, ToolResult


class Environments:
    """The environments of the rollouts under way, shared by all functions and by the user."""

    def __init__(self) -> None:
        self._by_session: dict[str, AnyEnvironment] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def call(
        self, name: str, arguments: Json, *, session: str, task: Task, by: Party = "policy"
    ) -> CallOutcome:
        """Call a function in a rollout's own environment; calls of one rollout never overlap.

        Raises:
            DomainBug: the function is broken.
        """
        goal = goal_of(task)
        assert goal is not None, "only tasks of domains have an environment"
        async with self._turns.setdefault(session, asyncio.Lock()):
            environment = self.of(session, task)
            return await aside(goal.domain, lambda: environment.call(name, arguments, by=by))

    def of(self, session: str, task: Task) -> AnyEnvironment:
        """A rollout's own environment, made at its first call."""
        if session not in self._by_session:
            goal = goal_of(task)
            assert goal is not None, "only tasks of domains have an environment"
            self._by_session[session] = goal.begin()
        return self._by_session[session]

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
            outcome = await self._environments.call(
                self._name, arguments, session=context.session, task=context.episode.task
            )
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
    domains: Iterable[str], environments: Environments, *, catalogue: Catalogue = SHIPPED_ALONE
) -> dict[str, Tool]:
    """Every function of these domains as a tool, by name.

    Args:
        domains: Their names.
        environments: Those of the run: whoever else works on the rollouts' databases shares them.
        catalogue: Where they are found.

    Raises:
        ValueError: there is no such domain, or it cannot be loaded.
    """
    names = {name for domain in domains for name in catalogue.load(domain).functions}
    return {name: DomainTool(name, environments) for name in sorted(names)}
