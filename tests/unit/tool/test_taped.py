"""A tool of one's own server, its results kept and given again."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.invariant.records import episode

from toolorchestra.provider.cassette import Cassette, CassetteMiss, calling
from toolorchestra.provider.config import CassetteConfig
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.config import ToolConfig
from toolorchestra.tool.local_search import LocalSearch
from toolorchestra.tool.passage_search import PassageSearch
from toolorchestra.tool.registry import build_tool
from toolorchestra.tool.taped import TapedTool
from toolorchestra.types import ToolResult

CONTEXT = CallContext(episode=episode(), call_id="c1", call_number=0, session="e/0")


class Counting:
    """Says how often it was called, or waits for ever."""

    def __init__(self, *, hangs=False):
        self.calls, self.closed, self._hangs = 0, [], hangs

    async def call(self, arguments, context):
        self.calls += 1
        if self._hangs:
            await asyncio.Event().wait()
        content = f"{arguments} {self.calls}"
        return ToolResult(
            call_id=context.call_id, name="t", content=content, status="ok", metadata={"n": [1]}
        )

    async def close_session(self, session):
        self.closed.append(session)

    async def close(self):
        self.closed.append("all")


def taped(path, mode, tool):
    return TapedTool("t", tool, Cassette(CassetteConfig(mode=mode, path=str(path))))


async def test_a_replay_gives_each_caller_its_own_result_and_calls_nothing(tmp_path):
    path, live, gone = tmp_path / "tape.jsonl", Counting(), Counting()
    recorder, results = taped(path, "record", live), {}
    for caller in ("e/0/t/0", "e/0/t/1", "e/1/t/0"):
        with calling(caller):
            results[caller] = await recorder.call({"q": "same"}, CONTEXT)
    player = taped(path, "replay", gone)
    for caller in reversed(results):
        with calling(caller):
            again = await player.call({"q": "same"}, replace(CONTEXT, call_id="c2"))
        assert again == replace(results[caller], call_id="c2")
    assert (live.calls, gone.calls) == (3, 0)
    with pytest.raises(CassetteMiss, match="holds no"):
        await player.call({"q": "other"}, CONTEXT)


async def test_a_call_that_was_cut_off_is_the_providers_fault_again_and_not_waited_for(tmp_path):
    path = tmp_path / "tape.jsonl"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await taped(path, "record", Counting(hangs=True)).call({}, CONTEXT)
    result = await taped(path, "replay", Counting(hangs=True)).call({}, CONTEXT)
    assert result.status == "provider_error" and "deadline" in result.content


async def test_what_the_tool_holds_is_released(tmp_path):
    tool = Counting()
    wrapper = taped(tmp_path / "tape.jsonl", "record", tool)
    await wrapper.close_session("e/0")
    await wrapper.close()
    assert tool.closed == ["e/0", "all"]
    assert not (tmp_path / "tape.jsonl").exists()  # nothing was called


def search_tool(cassette):
    options = {"url": "http://127.0.0.1:9", "deadline_s": 0.2}
    config = ToolConfig(
        kind="local_search", description="s", priced_as="local search", latency_s=1, options=options
    )
    return build_tool("search", config, services=None, cassette=cassette)


async def test_a_search_at_a_server_is_taped_with_a_cassette_alone(tmp_path):
    path = str(tmp_path / "tape.jsonl")
    assert isinstance(search_tool(None), PassageSearch)
    assert isinstance(search_tool(Cassette(CassetteConfig())), PassageSearch)
    recorded = await search_tool(Cassette(CassetteConfig(mode="record", path=path))).call(
        {}, CONTEXT
    )
    assert recorded.status == "provider_error"  # nobody is there
    replay = search_tool(Cassette(CassetteConfig(mode="replay", path=path)))
    assert await replay.call({}, CONTEXT) == recorded


def test_a_search_in_this_process_needs_no_tape(tmp_path):
    cassette = Cassette(CassetteConfig(mode="record", path=str(tmp_path / "tape.jsonl")))
    config = ToolConfig(kind="local_search", description="s", priced_as="local search", latency_s=1)
    assert isinstance(build_tool("s", config, services=None, cassette=cassette), LocalSearch)
