"""Fronts that could not work are refused before anything starts."""

from dataclasses import replace
from typing import Any

import pytest

from toolorchestra.tool.config import ToolConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.front_config import AliasConfig, FrontConfig, check_fronts


def tool(kind: str = "llm", **changes: Any) -> ToolConfig:
    return ToolConfig(kind=kind, description="A tool.", priced_as="x", latency_s=1, **changes)


TOOLS = {"big": tool(), "wiki": tool("local_search")}
ANSWER = FrontConfig(
    description="Answers.",
    argument="Who answers.",
    gives="answer",
    aliases={"answer-1": AliasConfig(tool="big")},
)
SEARCH = replace(ANSWER, gives="document", aliases={"search-1": AliasConfig(tool="wiki")})
FRONTS = {"answer": ANSWER, "search": SEARCH}


def test_fronts_of_which_one_answers_and_that_hide_no_tool_are_allowed():
    check_fronts(FRONTS, TOOLS)


def test_what_a_tool_behind_an_alias_uses_needs_none_and_is_not_offered():
    tools = TOOLS | {"asker": tool(role="query", uses="web"), "web": tool("web_search")}
    aliases = SEARCH.aliases | {"search-2": AliasConfig(tool="asker")}
    fronts = FRONTS | {"search": replace(SEARCH, aliases=aliases)}
    toolset = ToolsetConfig(name="t", tools=tools, fronts=fronts, min_tools=3, max_tools=3)
    assert list(toolset.on_offer) == ["big", "wiki", "asker"]
    assert toolset.answering == {"big"}
    with pytest.raises(ValueError, match="max_tools: 4 is not allowed; use 3 .* to 3, the number"):
        ToolsetConfig(name="t", tools=tools, fronts=fronts, min_tools=3, max_tools=4)


def alias(**changes: Any) -> dict[str, FrontConfig]:
    return {"search": replace(SEARCH, aliases={"search-1": AliasConfig(tool="wiki", **changes)})}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"search": replace(SEARCH, gives="joy")}, "fronts.search.gives: 'joy' is not"),
        ({"search": replace(SEARCH, aliases={})}, "fronts.search.aliases: none is not"),
        ({"answer": replace(ANSWER, gives="code")}, "fronts: no front that gives the answer is"),
        (
            {"search": replace(SEARCH, aliases={"search-1": AliasConfig(tool="gpt_9")})},
            "fronts.search.aliases.search-1.tool: 'gpt_9' is not allowed; use a tool",
        ),
        (
            {"search": replace(SEARCH, aliases={"answer-1": AliasConfig(tool="wiki")})},
            "aliases: 'answer-1' is not allowed; use an alias that no other front has",
        ),
        (
            {"search": replace(SEARCH, aliases={"search-1": AliasConfig(tool="big")})},
            "fronts: a tool without an alias, wiki, is not allowed",
        ),
        (alias(max_document_chars=0), "search-1.max_document_chars: 0 is not allowed"),
        (alias(max_work_tokens=0), "search-1.max_work_tokens: 0 is not allowed"),
        (alias(max_context_tokens=-1), "search-1.max_context_tokens: -1 is not allowed"),
    ],
)
def test_what_could_not_work_is_named(changes, told):
    with pytest.raises(ValueError) as caught:
        check_fronts(FRONTS | changes, TOOLS)
    assert str(caught.value).startswith("toolset.fronts")
    assert told in str(caught.value) and "; use " in str(caught.value)


def test_a_function_has_a_name_that_the_format_allows():
    with pytest.raises(ValueError, match="'look up' is not allowed"):
        check_fronts({"answer": ANSWER, "look up": SEARCH}, TOOLS)
