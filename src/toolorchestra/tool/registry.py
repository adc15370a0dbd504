"""The one place where a tool's kind becomes a tool. A new kind is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolorchestra.tool.base import Tool
from toolorchestra.tool.code_interpreter import CodeInterpreter
from toolorchestra.tool.config import SIMULATED_KINDS, ToolConfig
from toolorchestra.tool.function import FunctionTool
from toolorchestra.tool.function_config import FunctionConfig
from toolorchestra.tool.local_search import LocalSearch
from toolorchestra.tool.options import parse_options
from toolorchestra.tool.sandbox_config import SandboxConfig
from toolorchestra.tool.search_config import SearchConfig
from toolorchestra.tool.simulated import SimulatedExpert


def _code_interpreter(name: str, config: ToolConfig) -> Tool:
    options = parse_options(SandboxConfig, config.options, tool=name)
    return CodeInterpreter(
        name, latency_s=config.latency_s, compute_s=config.compute_s, options=options
    )


def _local_search(name: str, config: ToolConfig) -> Tool:
    options = parse_options(SearchConfig, config.options, tool=name)
    return LocalSearch(name, latency_s=config.latency_s, options=options)


def _function(name: str, config: ToolConfig) -> Tool:
    options = parse_options(FunctionConfig, config.options, tool=name)
    return FunctionTool(name, latency_s=config.latency_s, options=options)


TOOLS: Mapping[str, Callable[[str, ToolConfig], Tool]] = {
    "code_interpreter": _code_interpreter,
    "local_search": _local_search,
    "function": _function,
}
"""Tools that work here and now, by kind."""


def build_tool(name: str, config: ToolConfig, *, is_simulated: bool) -> Tool:
    """Makes a tool ready to be called.

    Raises:
        ValueError: its options are wrong, this machine lacks what it needs, or a real model is
            asked for, which this version cannot reach.
    """
    if is_simulated:
        return SimulatedExpert(name, config)
    if config.kind in SIMULATED_KINDS:
        raise ValueError(
            f"toolset.experts: real is not allowed yet: {name} needs {config.priced_as}, and calls "
            "to real providers are not built; use toolset.experts=simulated"
        )
    return TOOLS[config.kind](name, config)
