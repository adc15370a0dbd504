import pytest

from toolorchestra.chat.arguments import check_arguments, unknown_tool
from toolorchestra.types import ToolCall

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "mode": {"enum": ["read", "write"]},
        "count": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def call(arguments):
    return ToolCall(id="call_0", name="file", arguments=arguments)


def test_arguments_that_fit_give_no_error():
    given = {"path": "a", "mode": "read", "count": 2, "tags": ["x"]}
    assert check_arguments(call(given), SCHEMA) is None


def test_a_tool_whose_arguments_all_have_defaults_may_be_called_by_name():
    schema = {"type": "object", "properties": {"question": {"type": "string"}}}
    assert check_arguments(call({}), schema) is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "file: arguments: 'path' missing; required: 'path'"),
        (
            {"path": "a", "size": 1},
            "file: arguments: 'size' not allowed; use 'count', 'mode', 'path', 'tags'",
        ),
        ({"path": 3}, 'file: path: 3 is not allowed; use type "string"'),
        ({"path": "a", "count": True}, 'file: count: true is not allowed; use type "integer"'),
        ({"path": "a", "count": 0}, "file: count: 0 is not allowed; the rule is minimum 1"),
        ({"path": "a", "mode": "x"}, 'file: mode: "x" is not allowed; use ["read", "write"]'),
        ({"path": "a", "tags": ["x", 1]}, 'file: tags.1: 1 is not allowed; use type "string"'),
    ],
)
def test_the_error_says_where_what_and_what_is_allowed(arguments, said):
    error = check_arguments(call(arguments), SCHEMA)
    assert error is not None and error.message == said


def test_a_long_value_is_shown_in_part():
    error = check_arguments(call({"path": ["ü" * 10_000]}), SCHEMA)
    assert error is not None and len(error.message) < 300


def test_the_error_holds_the_call_with_its_letters_as_written():
    error = check_arguments(call({"pfad": "Zürich"}), SCHEMA)
    assert error is not None
    assert error.text == '{"name": "file", "arguments": {"pfad": "Zürich"}}'


def test_a_tool_that_does_not_exist_is_answered_with_the_tools_that_do():
    error = unknown_tool(call({}), ["web", "code"])
    assert error.message == 'there is no tool "file"; the tools are: code, web'
