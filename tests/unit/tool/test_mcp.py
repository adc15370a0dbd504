import logging

import pytest
from tests.unit.mcp.servers import (
    closing,
    is_alive,
    library,
    no_children,
    rogue,
    starts,
    until,
)

from toolorchestra.mcp import stdio
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.config import ToolConfig
from toolorchestra.tool.mcp import McpOptions, McpTool
from toolorchestra.tool.registry import build_tool

SECRET = "sesame-1234"


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(stdio, "GRACE_S", 0.3)


def tool(remote_name, config):
    options = McpOptions(server="lib", remote_name=remote_name, config=config)
    return McpTool("here", latency_s=2.0, options=options)


@pytest.fixture
def context(make_episode):
    return CallContext(episode=make_episode(), call_id="call_3", call_number=0, session="s")


async def test_results_of_a_server_of_the_mcp_package_reach_the_policy(
    context, monkeypatch, caplog
):
    monkeypatch.setenv("LIBRARY_KEY", SECRET)
    monkeypatch.setenv("OTHER_KEY", "sesame-5678")
    caplog.set_level(logging.DEBUG)
    config = library(env=["LIBRARY_KEY"], max_result_characters=60)
    names = ("find.author", "find.author", "borrow", "borrow", "cover", "tell_secret")
    titles = ("Emma", "Ulysses", "Emma", "Ulysses")
    arguments = [*({"title": title} for title in titles), {}, {}]
    tools = [tool(name, config) for name in names]
    got = [await t.call(a, context) for t, a in zip(tools, arguments, strict=True)]
    for each in tools:
        await each.close()
    assert [(result.status, result.content) for result in got] == [
        ("ok", "Jane Austen"),
        ("abstained", "the tool returned nothing"),
        ("ok", '{\n  "title": "Emma",\n  "days": 14\n}'),
        (
            "policy_error",
            "error: Error executing tool borrow: there is no book Ulysses; the b"
            "\n[cut: 60 of 84 characters]",
        ),
        ("ok", "The cover:\n[image: image/png, 5 bytes]"),
        ("ok", "the key is ***, not None"),
    ]
    assert {(result.call_id, result.name, result.latency_s) for result in got} == {
        ("call_3", "here", 2.0)
    }
    assert "sesame" not in caplog.text
    await until(no_children)


async def test_arguments_that_the_server_refuses_are_the_policys_fault(tmp_path, context):
    async with closing(tool("refuse", rogue(tmp_path))) as refusing:
        result = await refusing.call({}, context)
    assert result.status == "policy_error"
    assert result.content == "error: title must be a book"
    assert not result.metadata  # it was run, so it is paid


async def test_a_server_that_fails_for_good_voids_and_keeps_its_secret(
    tmp_path, context, monkeypatch, caplog
):
    monkeypatch.setenv("ROGUE_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    config = rogue(tmp_path, env=["ROGUE_KEY"], max_attempts=2)
    async with closing(tool("die", config)) as dying:
        result = await dying.call({}, context)
    assert result.status == "provider_error"
    assert result.content == (
        "error: the MCP server lib broke off: it ended with exit status 7; it said: struck by ***"
    )
    assert len(starts(tmp_path)) == 2
    assert "sesame" not in caplog.text


async def test_a_tool_can_be_used_again_after_it_was_closed_and_closed_unused(tmp_path, context):
    echo = tool("echo", rogue(tmp_path))
    await echo.close()
    assert not (tmp_path / "starts").exists()
    for _ in range(2):
        assert (await echo.call({}, context)).status == "ok"
        await echo.close_session("s")
        await echo.close()
    assert len(starts(tmp_path)) == 2
    await until(lambda: not any(map(is_alive, starts(tmp_path))))


def test_the_registry_makes_one_from_a_config_and_starts_nothing(tmp_path):
    config = ToolConfig(
        kind="mcp",
        description="Echoes.",
        priced_as="rogue",
        latency_s=2,
        options={"server": "lib", "remote_name": "echo", "config": rogue(tmp_path)},
        parameters={"type": "object"},
    )
    assert isinstance(build_tool("here", config, services=None), McpTool)
    assert not (tmp_path / "starts").exists()
