"""Which tools exist, who answers for the models among them, and how many an episode offers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from toolorchestra.mcp.config import McpServerConfig, check_server_name
from toolorchestra.tool.config import (
    CARRIED_OUT_BY,
    SIMULATED_KINDS,
    ToolConfig,
    check_tool_name,
)
from toolorchestra.toolset.front_config import FrontConfig, check_fronts

EXPERTS = ("simulated", "real")

CONTEXTS = ("argument", "task", "history")


@dataclass(kw_only=True)
class ToolsetConfig:
    """A catalogue of tools: `conf/toolset/<name>.yaml` lists files of `conf/tool/`."""

    name: str
    experts: str = "simulated"
    """Who answers for models and web search: simulated (no key, no network) or real."""
    context: str = "task"
    """What a real expert sees: argument, the text that the call passes on and nothing else; task,
    the task's question too; history, also what earlier calls of the rollout gave."""
    tools: dict[str, ToolConfig] = field(default_factory=dict)
    """By the name under which the policy calls them."""
    mcp: dict[str, McpServerConfig] = field(default_factory=dict)
    """MCP servers, files of `conf/mcp/`; what tools they bring is known once a run opens."""
    descriptions: str = ""
    """The folder of `synthesize.py descriptions`: what it wrote of a model stands in place of the
    config's own words."""
    min_tools: int = 3
    """Fewest tools that an episode offers; 0, and max_tools too, where the toolset has none."""
    max_tools: int = 6
    """Most tools that an episode offers (paper, section 3.3: a random subset)."""
    domain_latency_s: float = 0.5
    """Service time of a call of a function of the task's domain, in seconds; such functions are
    offered beside the tools, and are free."""
    fronts: dict[str, FrontConfig] = field(default_factory=dict)
    """Functions that stand before the tools with model.protocol=upstream, by name; none: only
    model.protocol=chat plays this toolset."""

    def __post_init__(self) -> None:
        if self.experts not in EXPERTS:
            _refuse("experts", repr(self.experts), " or ".join(EXPERTS))
        if self.context not in CONTEXTS:
            _refuse("context", repr(self.context), ", ".join(CONTEXTS))
        if not (math.isfinite(self.domain_latency_s) and self.domain_latency_s >= 0):
            _refuse("domain_latency_s", self.domain_latency_s, "seconds from 0 up")
        if not self.tools and not self.mcp and (self.min_tools, self.max_tools) != (0, 0):
            _refuse("tools", "an empty toolset", "a file of conf/tool, or toolset=none")
        for name, tool in self.tools.items():
            check_tool_name(name)
            if tool.uses:
                self._tie(name, tool)
        for server in self.mcp:
            check_server_name(server)
        if self.fronts:
            check_fronts(self.fronts, self.tools)
        self._check_numbers()

    def _check_numbers(self) -> None:
        """With servers only as far as can be told while their tools are still to come."""
        if self.mcp:
            if self.min_tools < 1:
                _refuse("min_tools", self.min_tools, "1 or more")
            if self.max_tools < self.min_tools:
                _refuse("max_tools", self.max_tools, f"{self.min_tools} (min_tools) or more")
            return
        if not self.tools:
            return
        num_tools = len(self.on_offer)
        if not 1 <= self.min_tools <= num_tools:
            _refuse("min_tools", self.min_tools, f"1 to {num_tools}, the number of tools")
        if not self.min_tools <= self.max_tools <= num_tools:
            _refuse(
                "max_tools",
                self.max_tools,
                f"{self.min_tools} (min_tools) to {num_tools}, the number of tools",
            )

    def _tie(self, name: str, tool: ToolConfig) -> None:
        """Checks the tool that another uses, and has a real expert's calls charged for both."""
        used, allowed = self.tools.get(tool.uses), CARRIED_OUT_BY[tool.role]
        if used is None or used.kind not in allowed:
            there = [key for key, other in self.tools.items() if other.kind in allowed]
            _refuse(
                f"tools.{name}.uses",
                repr(tool.uses),
                f"a {' or '.join(allowed)} of the toolset ({', '.join(there) or 'it has none'})",
            )
        elif self.experts == "real":
            more = [row for row in used.charged_as if row not in tool.charged_as]
            tool.also_priced_as = [*tool.also_priced_as, *more]

    def is_simulated(self, tool: str) -> bool:
        """Whether a simulator answers for `tool`."""
        return self.experts == "simulated" and self.tools[tool].kind in SIMULATED_KINDS

    @property
    def on_offer(self) -> dict[str, ToolConfig]:
        """Tools that an episode may offer: all, or those behind fronts where there are any."""
        behind = {a.tool for front in self.fronts.values() for a in front.aliases.values()}
        return {name: tool for name, tool in self.tools.items() if not behind or name in behind}

    @property
    def answering(self) -> frozenset[str]:
        """Tools behind a front that answers: without one of them an episode could not end."""
        return frozenset(
            alias.tool
            for front in self.fronts.values()
            if front.gives == "answer"
            for alias in front.aliases.values()
        )


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"toolset.{key}: {value} is not allowed; use {allowed}")
