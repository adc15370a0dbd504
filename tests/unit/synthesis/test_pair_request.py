"""What models are told of a toolset, and which kinds of wish are asked for."""

from __future__ import annotations

from toolorchestra.preference.config import TABLE_KINDS
from toolorchestra.preference.traits import ToolTraits
from toolorchestra.synthesis.pair_request import (
    MEANINGS,
    account_of,
    kinds_for,
    proposal_request,
    proposal_schema,
)
from toolorchestra.types import OfferedTool, Price

MODEL = ToolTraits(name="gpt_5", job="answer", family="GPT", is_local=False)
SEARCH = ToolTraits(name="local_search", job="search", family="", is_local=True)


def offered(name: str) -> OfferedTool:
    return OfferedTool(
        name=name, shown_as=name, description="Helps.", parameters={}, priced_as=("x",),
        price=Price(source="test", date="2026-01-01"), call_cost_usd=0.0125, latency_s=30,
    )  # fmt: skip


def test_every_kind_of_the_table_has_a_meaning():
    assert tuple(MEANINGS) == TABLE_KINDS


def test_only_kinds_that_the_tools_allow_are_asked_for():
    assert kinds_for([MODEL, SEARCH]) == list(TABLE_KINDS)
    assert kinds_for([MODEL]) == ["cost", "latency", "vendor", "combination"]
    assert kinds_for([SEARCH]) == ["cost", "latency", "combination"]


def test_a_toolset_is_told_with_prices_latencies_and_places():
    told = account_of([offered("gpt_5"), offered("local_search")], [MODEL, SEARCH])
    assert told == (
        "Tools:\n"
        "- gpt_5: Helps. (answer, GPT family, a remote service, $0.012500 and 30 s a call)\n"
        "- local_search: Helps. (search, on the user's machines, $0.012500 and 30 s a call)"
    )


def test_requests_of_one_kind_differ():
    first, second = (
        proposal_request("Tools:", "cost", number=n, num_batches=2, size=5) for n in (1, 2)
    )
    assert first != second and "Write 5 pairs." in first


def test_the_schema_knows_the_tools_and_allows_no_other_key():
    pairs = proposal_schema(["gpt_5"])["properties"]["pairs"]["items"]
    assert pairs["additionalProperties"] is False
    assert pairs["required"] == ["instruction", "outcome", "cost", "latency", "tools"]
    assert pairs["properties"]["tools"]["items"]["properties"]["tool"]["enum"] == ["gpt_5"]
