"""Which services a toolset needs, and by which command each is started."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.server.config import ServerConfig, ServiceConfig
from toolorchestra.toolset.config import ToolsetConfig


def choose(
    server: ServerConfig, toolset: ToolsetConfig, only: Sequence[str]
) -> dict[str, ServiceConfig]:
    """The services to start, by name.

    Args:
        server: What can be served.
        toolset: Its tools are to be answered for.
        only: Names of services, or of tools, to take in place of the toolset's.

    Raises:
        ValueError: A name is not known, or nothing is left.
    """
    wanted = set(only or toolset.tools)
    known = {name for key, service in server.services.items() for name in (key, *service.tools)}
    if unknown := sorted(set(only) - known):
        raise ValueError(f"only: {unknown[0]!r} is not allowed; use {', '.join(sorted(known))}")
    chosen = {
        name: service
        for name, service in server.services.items()
        if wanted.intersection((name, *service.tools))
    }
    if not chosen:
        raise ValueError(
            f"toolset: {toolset.name!r} has no tool that server.services answer for; use another "
            "toolset, or name services by only"
        )
    return chosen


def served_elsewhere(server: ServerConfig, toolset: ToolsetConfig) -> list[str]:
    """The toolset's models that nothing here answers for, such as closed ones."""
    here = {tool for service in server.services.values() for tool in service.tools}
    return [name for name, tool in toolset.tools.items() if tool.kind == "llm" and name not in here]


def program_of(server: ServerConfig, name: str) -> tuple[str, ...]:
    """The command of one service; {python}, {host} and {port} are left to its job."""
    service = server.services[name]
    words = service.program or server.program
    for place, value in (("model", name), ("tensor_parallel", str(service.tensor_parallel))):
        words = [word.replace(f"{{{place}}}", value) for word in words]
    length = service.max_model_len
    return (*words, *([] if length is None else ["--max-model-len", str(length)]), *service.args)
