"""Tools of MCP servers become tools of a toolset like any other, with a price and a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolorchestra.mcp.config import McpServerConfig, McpToolConfig
from toolorchestra.mcp.listing import ListedTool
from toolorchestra.tool.config import ToolConfig
from toolorchestra.toolset.config import ToolsetConfig


def with_listed(
    toolset: ToolsetConfig, listed: Mapping[str, Sequence[ListedTool]]
) -> ToolsetConfig:
    """The toolset with the tools of its servers, which it then names no more.

    Args:
        toolset: As composed.
        listed: What each of its servers has, by the server's name.

    Raises:
        ValueError: Two tools have one name, or there are too few or too many to draw from.
    """
    tools = dict(toolset.tools)
    owners = dict.fromkeys(tools, "toolset.tools")
    for server, config in toolset.mcp.items():
        for tool in listed[server]:
            if tool.name in tools:
                raise ValueError(
                    f"toolset.mcp.{server}: its tool {tool.remote_name!r} would be called "
                    f"{tool.name!r}, as one of {owners[tool.name]} is; use a prefix, or exclude"
                )
            tools[tool.name] = _tool(server, config, tool)
            owners[tool.name] = f"toolset.mcp.{server}"
    return replace(toolset, tools=tools, mcp={})


def _tool(server: str, config: McpServerConfig, tool: ListedTool) -> ToolConfig:
    own = config.tools.get(tool.remote_name, McpToolConfig())
    return ToolConfig(
        kind="mcp",
        description=own.description or tool.description or f"{tool.remote_name} of {server}",
        priced_as=own.priced_as or config.priced_as,
        latency_s=config.latency_s if own.latency_s is None else own.latency_s,
        profile=dict(own.profile),
        options={"server": server, "remote_name": tool.remote_name, "config": config},
        parameters=tool.parameters,
    )
