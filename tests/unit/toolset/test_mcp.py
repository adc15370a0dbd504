import pytest

from toolorchestra.mcp.config import McpServerConfig, McpToolConfig
from toolorchestra.mcp.listing import ListedTool
from toolorchestra.tool.config import Odds, ToolConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.mcp import with_listed
from toolorchestra.toolset.offer import offer
from toolorchestra.types import Price

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def server(**changes):
    fields = {"command": "sh", "priced_as": "library", "latency_s": 2.0}
    return McpServerConfig(**(fields | changes))


def listed(*names):
    return [
        ListedTool(name=n, remote_name=f"r.{n}", description="Theirs.", parameters=SCHEMA)
        for n in names
    ]


def toolset(own=(), **servers):
    tools = {
        name: ToolConfig(kind="local_search", description="Ours.", priced_as="ours", latency_s=1)
        for name in own
    }
    return ToolsetConfig(name="mine", tools=tools, mcp=servers, min_tools=1, max_tools=2)


def test_tools_of_servers_stand_beside_the_others_with_the_servers_price_and_time():
    got = with_listed(toolset(["search"], lib=server()), {"lib": listed("a", "b")})
    assert list(got.tools) == ["search", "a", "b"] and got.mcp == {}
    tool = got.tools["a"]
    assert (tool.kind, tool.description, tool.priced_as) == ("mcp", "Theirs.", "library")
    assert (tool.latency_s, tool.parameters, tool.profile) == (2.0, SCHEMA, {})
    assert not got.is_simulated("a")


def test_what_is_said_of_a_single_tool_holds_for_it_alone():
    own = McpToolConfig(
        description="Ours.", priced_as="dear", latency_s=0.0, profile={"lookup": Odds(right=1.0)}
    )
    config = server(tools={"r.a": own})
    got = with_listed(toolset(lib=config), {"lib": listed("a", "b")}).tools
    assert (got["a"].description, got["a"].priced_as, got["a"].latency_s) == ("Ours.", "dear", 0.0)
    assert got["a"].odds("lookup").right == 1.0
    assert (got["b"].description, got["b"].priced_as, got["b"].latency_s) == (
        "Theirs.",
        "library",
        2.0,
    )


def test_a_tool_is_offered_with_the_servers_schema_and_its_price():
    tool = with_listed(toolset(["b"], lib=server()), {"lib": listed("a")}).tools["a"]
    price = Price(usd_per_call=0.03, source="made up", date="2026-01-01")
    offered = offer("a", tool, question="Who?", price=price, is_simulated=False)
    assert (offered.shown_as, offered.parameters, offered.call_cost_usd) == ("a", SCHEMA, 0.03)


def test_a_tool_without_a_description_is_named():
    nameless = [ListedTool(name="a", remote_name="r.a", description="", parameters=SCHEMA)]
    got = with_listed(toolset(["b"], lib=server()), {"lib": nameless})
    assert got.tools["a"].description == "r.a of lib"


@pytest.mark.parametrize(
    "own, servers, owner",
    [
        (["a"], {"lib": server()}, "toolset.tools"),
        ([], {"lib": server(), "twin": server()}, "toolset.mcp.lib"),
    ],
)
def test_two_tools_of_one_name_are_refused_with_where_the_other_is_from(own, servers, owner):
    with pytest.raises(ValueError, match=rf"'r\.a' would be called 'a', as one of {owner} is; use"):
        with_listed(toolset(own, **servers), {name: listed("a", "b") for name in servers})


def test_too_few_tools_are_found_once_the_servers_have_told_theirs():
    with pytest.raises(ValueError, match=r"toolset\.max_tools: 2 is not allowed; use 1 .* to 1"):
        with_listed(toolset(lib=server()), {"lib": listed("a")})
