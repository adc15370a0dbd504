import pytest

from toolorchestra.mcp.config import (
    McpServerConfig,
    McpToolConfig,
    check_machine,
    check_server_name,
)


def server(**changes):
    fields = {"command": "sh", "priced_as": "library", "latency_s": 1.0}
    return McpServerConfig(**(fields | changes))


def web(**changes):
    return server(command="", url="https://tools.example/mcp", **changes)


def test_a_command_and_a_url_are_each_enough():
    assert server(env=["A", "B"]).variables == ("A", "B")
    assert web(key_env="KEY").variables == ("KEY",)


def test_all_prices_of_a_server_are_known_without_it():
    tools = {"a": McpToolConfig(priced_as="dear"), "b": McpToolConfig()}
    assert server(tools=tools).prices == ("library", "dear")


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"command": ""}, "command"),
        ({"url": "https://tools.example"}, "command"),
        ({"command": "", "url": "tools.example"}, "url"),
        ({"command": "", "url": "ftp://tools.example"}, "url"),
        ({"command": "", "url": "https://me:sesame@tools.example"}, "url"),
        ({"command": "", "url": "https://tools.example", "args": ["x"]}, "args"),
        ({"command": "", "url": "https://tools.example", "env": ["X"]}, "env"),
        ({"command": "", "url": "https://tools.example", "key_env": "sk-sesame"}, "key_env"),
        ({"key_env": "KEY"}, "key_env"),
        ({"env": ["KEY=sesame"]}, "env"),
        ({"prefix": "my library "}, "prefix"),
        ({"include": ["a"], "exclude": ["a"]}, "exclude"),
        ({"priced_as": " "}, "priced_as"),
        ({"latency_s": -1.0}, "latency_s"),
        ({"latency_s": float("nan")}, "latency_s"),
        ({"start_timeout_s": 0.0}, "start_timeout_s"),
        ({"call_timeout_s": float("inf")}, "call_timeout_s"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_result_characters": 0}, "max_result_characters"),
        ({"max_message_bytes": 0}, "max_message_bytes"),
        ({"tools": {"a": McpToolConfig(priced_as="")}}, "tools.a.priced_as"),
        ({"tools": {"a": McpToolConfig(latency_s=-1)}}, "tools.a.latency_s"),
        ({"tools": {"a": McpToolConfig(description=" ")}}, "tools.a.description"),
    ],
)
def test_what_is_not_allowed_is_refused_in_one_sentence_without_secrets(changes, key):
    with pytest.raises(
        ValueError, match=rf"^toolset\.mcp\.{key}: .* is not allowed; use "
    ) as error:
        server(**changes)
    assert "sesame" not in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "my server", "x" * 65])
def test_a_server_has_a_plain_name(name):
    check_server_name("library-1")
    with pytest.raises(ValueError, match="toolset.mcp: the name .* is not allowed; use "):
        check_server_name(name)


def test_a_variable_that_is_not_set_is_named_before_anything_starts():
    paths = {"PATH": "/usr/bin:/bin"}
    check_machine("library", server(env=["KEY"]), paths | {"KEY": "sesame"}, call_limit_s=60)
    for environment in (paths, paths | {"KEY": ""}):
        with pytest.raises(ValueError, match=r"^toolset\.mcp\.library\.env: .* KEY is not set"):
            check_machine("library", server(env=["KEY"]), environment, call_limit_s=60)
    with pytest.raises(ValueError, match=r"^toolset\.mcp\.library\.key_env: .* KEY is not set"):
        check_machine("library", web(key_env="KEY"), paths, call_limit_s=60)


def test_a_program_that_is_not_installed_is_named_before_anything_starts():
    with pytest.raises(ValueError, match=r"library\.command: 'no_such_program' is not found; use "):
        check_machine(
            "library", server(command="no_such_program"), {"PATH": "/usr/bin:/bin"}, call_limit_s=60
        )
