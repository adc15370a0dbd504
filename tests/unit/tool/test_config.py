"""A tool that cannot be meant is refused before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.tool.config import Odds, ToolConfig, check_tool_name


def tool(**changes: Any) -> ToolConfig:
    fields: dict[str, Any] = {
        "kind": "llm",
        "description": "Small reasoner.",
        "priced_as": "GPT-5-mini",
        "latency_s": 20.0,
    }
    return ToolConfig(**(fields | changes))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "lmm"),
        ("role", "writer"),
        ("description", " "),
        ("priced_as", ""),
        ("also_priced_as", [""]),
        ("also_priced_as", ["GPT-5-mini"]),
        ("also_priced_as", ["search", "search"]),
        ("latency_s", -1.0),
        ("latency_s", float("nan")),
        ("latency_s", float("inf")),
        ("overhead_tokens", -1),
        ("output_tokens", -5),
        ("compute_s", -0.1),
        ("profile", {" ": Odds(right=1.0)}),
        ("parameters", {"type": "object"}),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_key(key: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^tool\.{key}: .* is not allowed.*; use "):
        tool(**{key: value})


def test_the_refusal_names_the_value_and_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="'lmm'.*llm, web_search, local_search"):
        tool(kind="lmm")


def test_only_a_model_has_a_role() -> None:
    assert tool(role="code", uses="sandbox").role == "code"
    with pytest.raises(ValueError, match="only the kind llm has roles"):
        tool(kind="web_search", role="query")


@pytest.mark.parametrize(
    ("role", "uses"), [("code", ""), ("query", ""), ("answer", "web"), ("math", "sandbox")]
)
def test_what_writes_for_a_tool_names_it_and_nothing_else_does(role: str, uses: str) -> None:
    with pytest.raises(ValueError, match=r"tool\.uses"):
        tool(role=role, uses=uses)


@pytest.mark.parametrize(("right", "abstain"), [(-0.1, 0.0), (1.1, 0.0), (0.0, 2.0), (0.7, 0.4)])
def test_odds_that_are_no_probabilities_are_refused(right: float, abstain: float) -> None:
    with pytest.raises(ValueError, match="tool.profile"):
        Odds(right=right, abstain=abstain)


def test_odds_whose_sum_exceeds_one_by_rounding_alone_are_accepted() -> None:
    assert Odds(right=1.0, abstain=1e-12).right == 1.0


def test_a_skill_that_the_profile_lacks_makes_the_tool_abstain() -> None:
    assert tool(profile={"math": Odds(right=0.9)}).odds("service") == Odds(right=0.0, abstain=1.0)


def test_four_characters_count_as_one_token_rounded_up() -> None:
    assert tool(overhead_tokens=100).typical_input_tokens("12345") == 102
    assert tool(overhead_tokens=100).typical_input_tokens("") == 100


@pytest.mark.parametrize("name", ["gpt_5", "a", "A-1", "x" * 64])
def test_names_of_the_function_format_are_accepted(name: str) -> None:
    check_tool_name(name)


@pytest.mark.parametrize("name", ["", "x" * 65, "gpt 5", "gpt.5", "größe", "a\n", "a/b"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="1 to 64 letters"):
        check_tool_name(name)


def test_the_kind_mcp_alone_has_a_schema_of_its_own_and_needs_it() -> None:
    assert tool(kind="mcp", parameters={"type": "object"}).parameters == {"type": "object"}
    with pytest.raises(ValueError, match=r"^tool\.parameters: None is not allowed.*; use a schema"):
        tool(kind="mcp")
