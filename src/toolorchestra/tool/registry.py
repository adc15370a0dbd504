"""The one place where a tool's kind becomes a tool. A new kind is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.config import MODEL_APIS
from toolorchestra.provider.providers import Providers
from toolorchestra.provider.search import SearchClient
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.tool.base import Tool
from toolorchestra.tool.code_interpreter import CodeInterpreter
from toolorchestra.tool.config import ToolConfig
from toolorchestra.tool.expert import Expert
from toolorchestra.tool.expert_config import ExpertConfig
from toolorchestra.tool.function import FunctionTool
from toolorchestra.tool.function_config import FunctionConfig
from toolorchestra.tool.local_search import LocalSearch
from toolorchestra.tool.options import parse_options
from toolorchestra.tool.passage_search import PassageSearch
from toolorchestra.tool.search_config import SearchConfig
from toolorchestra.tool.simulated import SimulatedExpert
from toolorchestra.tool.taped import TapedTool
from toolorchestra.tool.web_config import WebConfig
from toolorchestra.tool.web_search import WebSearch


def _code_interpreter(name: str, config: ToolConfig) -> Tool:
    options = parse_options(SandboxConfig, config.options, tool=name)
    return CodeInterpreter(
        name, latency_s=config.latency_s, compute_s=config.compute_s, options=options
    )


def _local_search(name: str, config: ToolConfig) -> Tool:
    options = parse_options(SearchConfig, config.options, tool=name)
    search = PassageSearch if options.shipped is None else LocalSearch
    return search(name, latency_s=config.latency_s, options=options)


def _function(name: str, config: ToolConfig) -> Tool:
    options = parse_options(FunctionConfig, config.options, tool=name)
    return FunctionTool(name, latency_s=config.latency_s, options=options)


def _mcp(name: str, config: ToolConfig) -> Tool:
    from toolorchestra.tool.mcp import McpOptions, McpTool  # its package takes a second to load

    options = parse_options(McpOptions, config.options, tool=name)
    return McpTool(name, latency_s=config.latency_s, options=options)


TOOLS: Mapping[str, Callable[[str, ToolConfig], Tool]] = {
    "code_interpreter": _code_interpreter,
    "local_search": _local_search,
    "function": _function,
    "mcp": _mcp,
}
"""Tools that work here and now, by kind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """What real models and searches need beside their own options."""

    providers: Providers
    prompts: ExpertConfig
    context: str
    """What of a rollout an expert sees, see `ToolsetConfig.context`."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools that are built already, for experts that use one."""


def _expert(name: str, config: ToolConfig, services: Services) -> Tool:
    options = services.providers.config
    return Expert(
        name,
        config,
        model=services.providers.model(config.priced_as, wanted_by=f"tool.{name}"),
        prompts=services.prompts,
        context=services.context,
        deadline_s=options.deadline_s,
        max_argument_chars=options.max_argument_chars,
        uses=services.tools[config.uses] if config.uses else None,
    )


def _web_search(name: str, config: ToolConfig, services: Services) -> Tool:
    connection, variant = services.providers.connection(config.priced_as, wanted_by=f"tool.{name}")
    if connection.config.api in MODEL_APIS:
        raise ValueError(
            f"provider.providers.{connection.name}.api: {connection.config.api} is not allowed for "
            f"tool.{name}, as it is no search; use tavily or searxng"
        )
    return WebSearch(
        name,
        client=SearchClient(connection, variant),
        options=parse_options(WebConfig, config.options, tool=name),
        deadline_s=services.providers.config.deadline_s,
    )


OUTSIDE_TOOLS: Mapping[str, Callable[[str, ToolConfig, Services], Tool]] = {
    "llm": _expert,
    "web_search": _web_search,
}
"""Tools that ask a provider, by kind; simulators may stand in for them."""


def _asks_a_server(config: ToolConfig) -> bool:
    """Whether a tool of `TOOLS` asks a server of one's own, which a cassette can answer for."""
    if config.kind == "local_search":
        return bool(config.options.get("url") or config.options.get("service"))
    return config.kind == "mcp"


def build_tool(
    name: str, config: ToolConfig, *, services: Services | None, cassette: Cassette | None = None
) -> Tool:
    """Makes a tool ready to be called.

    Args:
        name: The tool's name in results.
        config: What it is.
        services: What real models and searches need; None: a simulator stands in for them.
        cassette: Keeps what servers answer, or answers for them; None: neither.

    Raises:
        ValueError: Its options are wrong, this machine lacks what it needs, nobody serves its
            model, or a key is not set.
    """
    if config.kind in TOOLS:
        tool = TOOLS[config.kind](name, config)
        if cassette is None or cassette.mode == "off" or not _asks_a_server(config):
            return tool
        return TapedTool(name, tool, cassette)
    if services is None:
        return SimulatedExpert(name, config)
    return OUTSIDE_TOOLS[config.kind](name, config, services)


def build_all(
    configs: Mapping[str, ToolConfig],
    services: Services | None,
    *,
    cassette: Cassette | None = None,
    into: dict[str, Tool],
) -> None:
    """Builds the tools that `into` has not yet; those that use another come after it.

    Raises:
        ValueError: As `build_tool`.
    """
    if services is not None:
        services = replace(services, tools=into)
    for name, config in sorted(configs.items(), key=lambda item: bool(item[1].uses)):
        if name not in into:
            into[name] = build_tool(name, config, services=services, cassette=cassette)
