"""Which tools exist, who answers for the models among them, and how many an episode offers."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.tool.config import SIMULATED_KINDS, ToolConfig, check_tool_name

EXPERTS = ("simulated", "real")


@dataclass(kw_only=True)
class ToolsetConfig:
    """A catalogue of tools: `conf/toolset/<name>.yaml` lists files of `conf/tool/`."""

    name: str
    experts: str = "simulated"
    """Who answers for models and web search: simulated (no key, no network) or real."""
    tools: dict[str, ToolConfig]
    """By the name under which the policy calls them."""
    min_tools: int = 3
    """Fewest tools that an episode offers."""
    max_tools: int = 6
    """Most tools that an episode offers (paper, section 3.3: a random subset)."""

    def __post_init__(self) -> None:
        if self.experts not in EXPERTS:
            _refuse("experts", repr(self.experts), " or ".join(EXPERTS))
        if not self.tools:
            _refuse("tools", "an empty toolset", "at least one file of conf/tool")
        for name in self.tools:
            check_tool_name(name)
        if not 1 <= self.min_tools <= len(self.tools):
            _refuse("min_tools", self.min_tools, f"1 to {len(self.tools)}, the number of tools")
        if not self.min_tools <= self.max_tools <= len(self.tools):
            _refuse(
                "max_tools",
                self.max_tools,
                f"{self.min_tools} (min_tools) to {len(self.tools)}, the number of tools",
            )

    def is_simulated(self, tool: str) -> bool:
        """Whether a simulator answers for `tool`."""
        return self.experts == "simulated" and self.tools[tool].kind in SIMULATED_KINDS


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"toolset.{key}: {value} is not allowed; use {allowed}")
