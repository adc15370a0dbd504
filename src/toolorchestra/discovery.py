"""What a run learns from outside before it begins: its MCP servers' tools, written descriptions.

Composing a config starts nothing; here the servers are started, asked, and ended again, or a
cassette answers for them. What they said is written to the run's folder, so that a run which goes
on finds the same tools as before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolorchestra.config import PlayConfig
from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.report.files import replace_text
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.described import with_descriptions
from toolorchestra.types import Json
from toolorchestra.worlds import worlds_of

if TYPE_CHECKING:
    from toolorchestra.mcp.listing import ListedTool

FILE = "mcp_tools.json"
"""In a run's folder: the tools of each server, by world."""
C = TypeVar("C", bound=PlayConfig)
Found = dict[str, dict[str, list[dict[str, Any]]]]
"""The listed tools as plain data, by world and server."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """All tools of a server, as it describes them."""

    tools: tuple[Json, ...]


def discover(options: C, cassette: Cassette) -> tuple[C, Found]:
    """The options with all tools of their MCP servers and what was written of models.

    Also what the servers said. Where there is neither, the options stay the same object.

    Raises:
        ValueError: A server cannot be used, or its tools do not fit in; names the server.
    """
    found: Found = {}
    toolsets: dict[str, ToolsetConfig] = {}
    for world, toolset, _, _ in worlds_of(options):
        described = with_descriptions(toolset)
        if described is not toolset:
            toolsets[world] = described
        if toolset.mcp:
            toolsets[world], found[world] = _with_tools(described, cassette)
    if options.world in toolsets:
        options = replace(options, toolset=toolsets[options.world])
    if "transfer" in toolsets:
        assert options.benchmark.transfer is not None
        transfer = replace(options.benchmark.transfer, toolset=toolsets["transfer"])
        options = replace(options, benchmark=replace(options.benchmark, transfer=transfer))
    if found:
        _check_same_tools(options)
    return options, found


def _check_same_tools(options: PlayConfig) -> None:
    """Raises ValueError where one name means two tools: worlds share their tools by name."""
    (_, first, _, _), *others = worlds_of(options)
    for world, other, _, _ in others:
        for name in first.tools.keys() & other.tools.keys():
            one, two = first.tools[name], other.tools[name]
            if "mcp" in (one.kind, two.kind) and (one.kind, one.options) != (two.kind, two.options):
                raise ValueError(
                    f"toolset.mcp: the name {name!r} is not allowed, as it is another tool in the "
                    f"{world} world; use a prefix"
                )


def _with_tools(
    toolset: ToolsetConfig, cassette: Cassette
) -> tuple[ToolsetConfig, dict[str, list[dict[str, Any]]]]:
    from toolorchestra.toolset.mcp import with_listed  # its package takes a second to load

    listed = asyncio.run(_ask_all(toolset.mcp, cassette))
    plain = {server: [asdict(tool) for tool in tools] for server, tools in listed.items()}
    return with_listed(toolset, listed), plain


async def _ask_all(
    servers: Mapping[str, McpServerConfig], cassette: Cassette
) -> dict[str, list[ListedTool]]:
    answers = await asyncio.gather(*(_ask(name, servers[name], cassette) for name in servers))
    return dict(zip(servers, answers, strict=True))


async def _ask(server: str, config: McpServerConfig, cassette: Cassette) -> list[ListedTool]:
    from mcp.types import Tool

    from toolorchestra.mcp.connection import Connection
    from toolorchestra.mcp.listing import listed

    async def live() -> Listing:
        connection = Connection(server, config)
        try:
            tools = await connection.tools()
        finally:
            await connection.close()
        return Listing(tools=tuple(tool.model_dump(mode="json", by_alias=True) for tool in tools))

    try:
        listing = await cassette.through(Listing, {"mcp_server": server}, live)
    except ProviderFault as fault:
        raise ValueError(f"toolset.mcp.{server}: {fault}") from fault
    return listed(server, config, [Tool.model_validate(tool) for tool in listing.tools])


def keep_found(run_dir: Path, found: Found) -> None:
    """Writes what the servers said, or compares it with what they said when the run began.

    Raises:
        ValueError: A server's tools have changed.
    """
    path = run_dir / FILE
    if not found:
        return
    if not path.exists():
        replace_text(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        return
    before: Found = json.loads(path.read_text(encoding="utf-8"))
    for world, servers in found.items():
        for server, tools in servers.items():
            if changed := _changed(before.get(world, {}).get(server, []), tools):
                raise ValueError(
                    f"resume: the tools of the MCP server {server} have changed since {run_dir} "
                    f"was begun ({', '.join(changed)}); bring the old ones back, or start anew "
                    "without resume"
                )


def _changed(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """Names of the tools that are not what they were."""
    old = {tool["name"]: tool for tool in before}
    new = {tool["name"]: tool for tool in now}
    return sorted(name for name in old | new if old.get(name) != new.get(name))
