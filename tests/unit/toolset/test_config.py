"""A toolset from which nothing can be drawn is refused."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.tool.config import ToolConfig
from toolorchestra.toolset.config import ToolsetConfig


def tool(kind: str) -> ToolConfig:
    return ToolConfig(kind=kind, description="A tool.", priced_as="GPT-5", latency_s=1)


def toolset(**changes: Any) -> ToolsetConfig:
    fields: dict[str, Any] = {
        "name": "test",
        "tools": {kind: tool(kind) for kind in ("llm", "web_search", "local_search")},
        "min_tools": 1,
        "max_tools": 3,
    }
    return ToolsetConfig(**(fields | changes))


def test_an_empty_toolset_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^toolset\.tools: an empty toolset is not allowed"):
        toolset(tools={})


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("min_tools", {"min_tools": 0}),
        ("min_tools", {"min_tools": -1}),
        ("min_tools", {"min_tools": 4, "max_tools": 4}),
        ("max_tools", {"min_tools": 3, "max_tools": 2}),
        ("max_tools", {"max_tools": 4}),
        ("experts", {"experts": "fake"}),
        ("domain_latency_s", {"domain_latency_s": -0.1}),
        ("domain_latency_s", {"domain_latency_s": float("nan")}),
    ],
)
def test_a_value_that_cannot_be_met_is_refused(key: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"^toolset\.{key}: .* is not allowed; use "):
        toolset(**changes)


def test_a_name_that_the_function_format_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="'gpt 5' is not allowed"):
        toolset(tools={"gpt 5": tool("llm")}, max_tools=1)


def test_one_switch_covers_what_needs_a_key_and_nothing_else() -> None:
    simulated, real = toolset(), toolset(experts="real")
    assert [simulated.is_simulated(name) for name in simulated.tools] == [True, True, False]
    assert not any(real.is_simulated(name) for name in real.tools)


def test_a_toolset_may_have_the_tools_of_servers_alone_whose_number_is_not_known_yet() -> None:
    server = McpServerConfig(command="sh", priced_as="library", latency_s=1.0)
    assert toolset(tools={}, mcp={"library": server}, min_tools=5, max_tools=9).max_tools == 9
    for key, changes in (("min_tools", {"min_tools": 0}), ("max_tools", {"min_tools": 4})):
        with pytest.raises(ValueError, match=rf"^toolset\.{key}: .* is not allowed; use "):
            toolset(mcp={"library": server}, **changes)
    with pytest.raises(ValueError, match="toolset.mcp: the name 'my library' is not allowed"):
        toolset(mcp={"my library": server})


def test_a_toolset_without_tools_says_so_in_its_numbers() -> None:
    assert not toolset(tools={}, min_tools=0, max_tools=0).on_offer
    with pytest.raises(ValueError, match="use a file of conf/tool, or toolset=none"):
        toolset(tools={}, min_tools=0, max_tools=1)
