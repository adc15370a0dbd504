"""What the policy is told agrees with what it is charged."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.tool.config import KINDS, Odds, ToolConfig
from toolorchestra.toolset.offer import describe, offer, parameters, ratings, shown_as
from toolorchestra.types import Price

PRICE = Price(usd_per_input_mtok=1.25, usd_per_output_mtok=10, source="a page", date="2025")


def tool(**changes: Any) -> ToolConfig:
    fields: dict[str, Any] = {
        "kind": "llm",
        "description": "Frontier reasoner.",
        "priced_as": "GPT-5",
        "latency_s": 60.0,
        "overhead_tokens": 120,
        "output_tokens": 2000,
        "profile": {"math": Odds(right=0.95), "service": Odds(right=0.05)},
    }
    return ToolConfig(**(fields | changes))


def test_a_typical_call_is_priced_for_this_question() -> None:
    # 9 characters are 3 tokens: (3 + 120) x $1.25 + 2,000 x $10 = 20,153.75 per million
    offered = offer("gpt_5", tool(), question="2 + 2 = ?", price=PRICE, is_simulated=True)
    assert offered.call_cost_usd == pytest.approx(0.02015375, abs=1e-12)
    assert offered.latency_s == 60
    assert offered.price is PRICE
    assert offered.name == "gpt_5"


def test_seconds_are_priced() -> None:
    # 2 s x $8.3e-6
    interpreter = tool(kind="code_interpreter", compute_s=2, overhead_tokens=0, output_tokens=0)
    price = Price(usd_per_second=8.3e-6, source="a page", date="2025")
    offered = offer("code", interpreter, question="2 + 2", price=price, is_simulated=False)
    assert offered.call_cost_usd == pytest.approx(1.66e-5, abs=1e-12)


def test_a_simulator_is_shown_as_one() -> None:
    assert shown_as("gpt_5", tool(), is_simulated=True) == "sim/GPT-5"
    assert (
        shown_as("gpt_5_code", tool(role="code", uses="sandbox"), is_simulated=True)
        == "sim/GPT-5 (code)"
    )
    assert (
        shown_as("gpt_5_query", tool(role="query", uses="web"), is_simulated=True)
        == "sim/GPT-5 (query)"
    )


def test_a_real_tool_is_shown_by_its_name() -> None:
    assert (
        shown_as("gpt_5_code", tool(role="code", uses="sandbox"), is_simulated=False)
        == "gpt_5_code"
    )


def test_a_real_model_carries_no_ratings_of_the_simulator() -> None:
    assert describe(tool(), is_simulated=True) == "Frontier reasoner. math 5"
    assert describe(tool(), is_simulated=False) == "Frontier reasoner."


def test_a_real_tool_of_this_machine_carries_its_ratings() -> None:
    search = tool(kind="local_search", description="Searches.", profile={"lookup": Odds(right=1)})
    assert describe(search, is_simulated=False) == "Searches. lookup 5"


@pytest.mark.parametrize(
    ("right", "text"),
    [(1.0, "math 5"), (0.9, "math 5"), (0.89, "math 4"), (0.5, "math 3"), (0.3, "math 2"),
     (0.1, "math 1"), (0.09, ""), (0.0, "")],
)  # fmt: skip
def test_ratings_are_fifths_with_halves_rounded_up(right: float, text: str) -> None:
    assert ratings({"math": Odds(right=right)}) == text


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mcp"])
def test_every_kind_takes_one_optional_text_and_nothing_else(kind: str) -> None:
    schema = parameters(kind)
    assert schema["additionalProperties"] is False
    assert schema["required"] == []
    (argument,) = schema["properties"].values()
    assert argument["type"] == "string"
    assert "the task's question" in argument["description"]


def test_schemas_are_not_shared_between_offers() -> None:
    parameters("llm")["properties"]["question"]["type"] = "number"
    assert parameters("llm")["properties"]["question"]["type"] == "string"


def test_an_offer_names_every_row_that_a_call_is_charged_by() -> None:
    searcher = tool(role="query", uses="web", also_priced_as=["search"])
    offered = offer("gpt_5_query", searcher, question="?", price=PRICE, is_simulated=True)
    assert offered.priced_as == ("GPT-5", "search")
