import pytest
from mcp.types import Tool
from tests.unit.mcp.servers import library

from toolorchestra.mcp.config import McpToolConfig
from toolorchestra.mcp.listing import closed, listed, offered_name, schema_fault
from toolorchestra.tool.config import check_tool_name

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def tool(name, **changes):
    return Tool(name=name, **({"input_schema": SCHEMA} | changes))


def names(has, **changes):
    return [item.name for item in listed("lib", library(**changes), has)]


def test_tools_come_by_name_whatever_order_the_server_lists_them_in():
    assert names([tool("b"), tool("c"), tool("a")]) == ["a", "b", "c"]


def test_tools_are_included_excluded_and_prefixed():
    tools = [tool("a"), tool("b"), tool("c")]
    assert names(tools, include=["a", "c"]) == ["a", "c"]
    assert names(tools, exclude=["a"], prefix="lib_") == ["lib_b", "lib_c"]


def test_descriptions_are_put_on_one_line_and_titles_stand_in_for_them():
    tools = [tool("a", description=" Finds\n  books. "), tool("b", title="Borrow"), tool("c")]
    found = listed("lib", library(), tools)
    assert [item.description for item in found] == ["Finds books.", "Borrow", ""]


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"include": ["z"]}, "include"),
        ({"exclude": ["z"]}, "exclude"),
        ({"tools": {"z": McpToolConfig()}}, "tools"),
    ],
)
def test_a_tool_that_the_server_lacks_is_refused_with_those_that_it_has(changes, key):
    with pytest.raises(ValueError, match=rf"^toolset\.mcp\.lib\.{key}: 'z' .*; use a, b$"):
        names([tool("b"), tool("a")], **changes)


def test_a_server_of_which_nothing_is_left_is_refused():
    with pytest.raises(ValueError, match="lib: it has no tool that is wanted"):
        names([tool("a")], exclude=["a"])
    with pytest.raises(ValueError, match="lib: it has no tool that is wanted"):
        names([])


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"'a\.b' and 'a/b' would both be called 'a_b'; use "):
        names([tool("a.b"), tool("a/b")])


@pytest.mark.parametrize("name", ["find.author", "naïve/search", "x" * 65, "é" * 100])
def test_every_name_becomes_one_that_openai_allows_always_the_same(name):
    check_tool_name(offered_name(name))
    assert offered_name(name) == offered_name(name)


def test_long_names_with_the_same_beginning_stay_apart():
    long = "x" * 80
    assert offered_name(long + "a") != offered_name(long + "b")
    assert offered_name("x" * 64) == "x" * 64


def test_arguments_that_a_schema_is_silent_about_are_not_allowed():
    assert closed(SCHEMA) == SCHEMA | {"additionalProperties": False}
    assert closed(SCHEMA | {"additionalProperties": True})["additionalProperties"] is True
    composed = SCHEMA | {"anyOf": [{"properties": {"r": {}}}]}
    assert closed(composed) == composed


@pytest.mark.parametrize(
    "schema, reason",
    [
        ({}, "its type is None, not 'object'"),
        ({"type": "array"}, "its type is 'array'"),
        ({"type": "object", "properties": 3}, "breaks JSON schema's rules"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}},
            "refers to .*b', which is not in it",
        ),
        ({"type": "object", "$ref": "https://example.com/schema"}, "which is not in it"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, r"'\(' is not a 'regex'"),
        ({"type": "object", "$ref": "#"}, "refers to itself without end"),
    ],
)
def test_a_schema_that_no_call_could_be_checked_against_is_refused(schema, reason):
    with pytest.raises(ValueError, match=f"the schema of 'a' is of no use, as .*{reason}"):
        names([tool("a", input_schema=schema)])


def test_a_schema_may_refer_to_itself_with_an_end():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/node"}},
        "$defs": {"node": node},
    }
    assert schema_fault(schema) == ""
