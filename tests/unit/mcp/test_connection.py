import asyncio
import os

import pytest
from tests.unit.mcp.servers import (
    closing,
    http_server,
    is_alive,
    library,
    no_children,
    rogue,
    starts,
    until,
)

from toolorchestra.mcp import stdio
from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.mcp.connection import CallRefused, Connection, release, share
from toolorchestra.provider.fault import ProviderFault

SECRET = "sesame-1234"


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """Servers that do not end by themselves are not waited for as long."""
    monkeypatch.setattr(stdio, "GRACE_S", 0.3)


def said(result):
    return result.content[0].text


def web(server, **changes):
    fields = {"url": server.url, "priced_as": "web", "latency_s": 1, "max_message_bytes": 1_000_000}
    return McpServerConfig(**(fields | changes))


async def test_a_server_of_the_mcp_package_is_started_once_for_all_calls_and_gone_after_close():
    async with closing(Connection("library", library())) as connection:
        tools, *answers = await asyncio.gather(
            connection.tools(),
            *(connection.call("find.author", {"title": "Emma"}) for _ in range(20)),
        )
        assert {tool.name for tool in tools} == {"find.author", "borrow", "cover", "tell_secret"}
        assert [said(answer) for answer in answers] == ["Jane Austen"] * 20
    await until(no_children)


async def test_nothing_is_started_before_it_is_needed_nor_by_closing(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path))):
        await asyncio.sleep(0)
    assert not (tmp_path / "starts").exists()


@pytest.mark.parametrize(
    "what, kind, reason",
    [
        ("die", "broken", "broke off: it ended with exit status 7; it said: struck by ***"),
        ("hang", "timeout", "gave no answer in time"),
        ("flood", "broken", "it sent a message of more than 1000000 bytes"),
        ("babble", "broken", "it printed what is no message: Traceback: what a day"),
        ("close", "broken", "it closed its output"),
        ("fail", "server", "answered with an error (-32603: out of order)"),
    ],
)
async def test_what_a_server_does_wrong_is_its_fault_and_the_next_call_works_again(
    what, kind, reason, tmp_path, monkeypatch
):
    monkeypatch.setenv("ROGUE_KEY", SECRET)
    timeout_s = 1.0 if what == "hang" else 30.0
    config = rogue(tmp_path, env=["ROGUE_KEY"], max_attempts=2, call_timeout_s=timeout_s)
    async with closing(Connection("rogue", config)) as connection:
        with pytest.raises(ProviderFault) as caught:
            await connection.call(what, {})
        assert reason in str(caught.value) and str(caught.value).startswith("the MCP server rogue ")
        assert caught.value.kind == kind
        assert said(await connection.call("echo", {})).startswith("echo by ")
        # a server that answers is left alone
        assert len(set(starts(tmp_path))) == (1 if what == "fail" else 3)
    await until(lambda: not any(map(is_alive, starts(tmp_path))))


@pytest.mark.parametrize("what", ["die", "hang", "babble", "flood", "fail"])
async def test_a_call_is_tried_again_where_the_server_failed(what, tmp_path):
    config = rogue(tmp_path, call_timeout_s=2.0 if what == "hang" else 30.0)
    async with closing(Connection("rogue", config)) as connection:
        assert said(await connection.call(what, {"once": True})) == "well again"


async def test_with_one_attempt_nothing_is_called_twice(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path, max_attempts=1))) as connection:
        with pytest.raises(ProviderFault):
            await connection.call("die", {"once": True})
        assert said(await connection.call("die", {"once": True})) == "well again"


async def test_a_server_that_was_killed_between_two_calls_costs_no_attempt(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path, max_attempts=1))) as connection:
        await connection.call("echo", {})
        (pid,) = starts(tmp_path)
        os.kill(pid, 9)
        assert connection._link is not None
        await until(lambda: not connection._link.is_usable)
        assert said(await connection.call("echo", {})) != f"echo by {pid}"


async def test_a_slow_call_ends_no_other_call(tmp_path):
    config = rogue(tmp_path, call_timeout_s=1.0, max_attempts=1)
    async with closing(Connection("rogue", config)) as connection:
        await connection.call("echo", {})
        first = connection._link
        with pytest.raises(ProviderFault, match="in time"), first.in_use():
            await connection.call("hang", {})
            assert not first.is_closed
        await connection.call("echo", {})
        assert connection._link is not first
        await until(lambda: first.is_closed)


async def test_arguments_that_the_server_refuses_are_not_its_fault(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path))) as connection:
        with pytest.raises(CallRefused, match="^title must be a book$"):
            await connection.call("refuse", {})
        assert said(await connection.call("echo", {})) == f"echo by {starts(tmp_path)[0]}"


async def test_a_call_that_is_given_up_leaves_the_session_to_others(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path))) as connection:
        calls = [asyncio.create_task(connection.call("echo", {})) for _ in range(3)]
        await asyncio.sleep(0)
        calls[0].cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(answers[0], asyncio.CancelledError)
        assert said(answers[1]) == said(answers[2])


@pytest.mark.parametrize(
    "how, reason",
    [
        ("mute", "cannot be used: it was not ready within 0.5 s"),
        ("fails", "it ended with exit status 1; it said: no licence for ***"),
    ],
)
async def test_a_server_that_does_not_start_is_named_with_the_reason(
    how, reason, tmp_path, monkeypatch
):
    monkeypatch.setenv("ROGUE_KEY", SECRET)
    timeout_s = 0.5 if how == "mute" else 30.0
    config = rogue(tmp_path, how, env=["ROGUE_KEY"], max_attempts=2, start_timeout_s=timeout_s)
    async with closing(Connection("rogue", config)) as connection:
        with pytest.raises(ProviderFault) as caught:
            await connection.tools()
        assert reason in str(caught.value)
    assert len(starts(tmp_path)) <= 2
    await until(no_children)


async def test_a_banner_before_the_first_message_is_overlooked(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path, "banner"))) as connection:
        assert said(await connection.call("echo", {})).startswith("echo by ")


async def test_the_tools_of_a_server_share_one_session_which_ends_with_the_last_of_them(tmp_path):
    config = rogue(tmp_path)
    one, other = object(), object()
    connection = share("rogue", config, holder=one)
    assert share("rogue", config, holder=other) is connection
    assert share("twin", config, holder=other) is not connection
    await connection.call("echo", {})
    await release(connection, holder=one)
    assert is_alive(starts(tmp_path)[0])
    await release(connection, holder=other)
    await until(lambda: not is_alive(starts(tmp_path)[0]))
    assert share("rogue", config, holder=one) is not connection


async def test_a_session_is_of_one_event_loop(tmp_path):
    config = rogue(tmp_path)
    here = share("rogue", config, holder=None)

    async def elsewhere():
        return share("rogue", config, holder=None)

    assert await asyncio.to_thread(asyncio.run, elsewhere()) is not here
    await release(here, holder=None)


@pytest.mark.parametrize("json", [False, True])
async def test_a_server_over_http_is_called_and_one_that_floods_or_hangs_is_at_fault(json):
    with http_server(json=json) as server:
        config = web(server, call_timeout_s=5.0, max_attempts=1)
        async with closing(Connection("web", config)) as connection:
            assert said(await connection.call("echo", {"text": "hello"})) == "hello"
            with pytest.raises(ProviderFault, match="web broke off: .*") as caught:
                await connection.call("flood", {})
            assert caught.value.kind == "broken"
            with pytest.raises(ProviderFault, match="no answer in time"):
                await connection.call("hang", {})
            assert said(await connection.call("echo", {"text": "again"})) == "again"


async def test_a_server_over_http_gets_its_token_and_a_wrong_one_is_told_at_once(monkeypatch):
    monkeypatch.setenv("WEB_KEY", SECRET)
    with http_server(token=SECRET) as server:
        async with closing(Connection("web", web(server, key_env="WEB_KEY"))) as connection:
            result = await connection.call("echo", {"text": f"I know {SECRET}"})
            assert connection.hide(said(result)) == "I know ***"
        monkeypatch.setenv("WEB_KEY", "sesame-0000")
        async with closing(Connection("web", web(server, key_env="WEB_KEY"))) as connection:
            with pytest.raises(ProviderFault, match="HTTP status 401") as caught:
                await connection.tools()
            assert caught.value.kind == "auth" and "sesame" not in str(caught.value)


async def test_a_server_over_http_that_was_restarted_or_out_of_order_is_called_anew():
    with http_server() as server:
        config = web(server)
        async with closing(Connection("web", config)) as connection:
            await connection.call("echo", {"text": "hello"})
            server.close()
            with http_server(port=server.port) as again:
                assert said(await connection.call("echo", {"text": "hello"})) == "hello"
                again.status = 503
                with pytest.raises(ProviderFault, match="HTTP status 503") as caught:
                    await connection.call("echo", {"text": "hello"})
                assert caught.value.kind == "server"
                again.status = 0
                assert said(await connection.call("echo", {"text": "hello"})) == "hello"


async def test_a_server_over_http_that_is_not_there_is_a_fault():
    with http_server() as server:
        pass
    async with closing(Connection("web", web(server, max_attempts=2))) as connection:
        with pytest.raises(ProviderFault, match="web cannot be used: .*onnect"):
            await connection.tools()
