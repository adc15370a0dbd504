"""One episode from end to end with a tool of a real MCP server, paid as the config says."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from random import Random

import pytest
from tests.composed import options_of
from tests.unit.mcp.servers import LIBRARY, no_children
from tests.unit.rollout.stage import speaker

from toolorchestra.build import build_sampler, build_tools, tool_labels
from toolorchestra.codec import to_json
from toolorchestra.dataset.source import make_source
from toolorchestra.discovery import discover
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.config import CassetteConfig
from toolorchestra.reward.measures import cost_usd, tool_counts
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.domain import Environments
from toolorchestra.worlds import check_worlds

USD_PER_CALL = 0.008  # of `tavily search basic`, which the example is priced as
CALLS = [
    ("library_find_author", {"title": "Emma"}),
    ("library_find_author", {}),
    ("library_find_author", {"title": "Emma", "max_results": "many"}),
    ("library_borrow", {"title": "Ulysses"}),
    ("library_borrow", {"title": "Emma", "days": 3}),
]


def librarian(episode, turns, rng: Random) -> str:
    """Makes one call a turn, then answers what it was told first."""
    if len(turns) == len(CALLS):
        return turns[0].results[0].content
    name, arguments = CALLS[len(turns)]
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def play(cassette, *, command=sys.executable):
    options = options_of(
        "tool@toolset.tools=[track_parcel]",
        "+mcp@toolset.mcp=example",
        f"toolset.mcp.example.command={command}",
        f"toolset.mcp.example.args=[{LIBRARY}]",
        "toolset.min_tools=5",
        "toolset.max_tools=5",
        "pricing.jitter=1",
        "benchmark=none",
        "model.tool_style=full",
    )
    options, _ = discover(options, cassette)
    check_worlds(options)
    tasks = make_source(options.dataset, seed=1)
    sampler = build_sampler(options, options.toolset, options.pricing, tasks, "train")
    episode = sampler(0)
    stage = Stage(
        tools=build_tools(options, Environments(), cassette=cassette),
        speaker=speaker(),
        config=options.rollout,
        max_new_tokens=400,
        max_context=8000,
    )
    try:
        end_id = speaker().renderer.end_of_turn_id
        engine = ScriptedEngine(librarian, speaker().tokenizer, end_id=end_id)
        (group,) = stage.play(engine, [episode], group_size=3, is_greedy=False)
    finally:
        stage.close()
    return options, episode, group


def test_an_episode_is_played_with_tools_of_a_server_and_paid_by_the_config():
    options, episode, group = play(Cassette(CassetteConfig()))
    assert tool_labels(options)["library_borrow"] == "library_borrow"
    offered = {tool.name: tool for tool in episode.tools}
    assert offered["library_find_author"].parameters["required"] == ["title"]
    assert offered["library_find_author"].call_cost_usd == pytest.approx(USD_PER_CALL)
    assert offered["library_find_author"].latency_s == 1
    assert group.num_void == 0 and len(group.rollouts) == 3
    for rollout in group.rollouts:
        assert (rollout.status, rollout.answer) == ("answered", "Jane Austen")
        results = [result for turn in rollout.turns for result in turn.results]
        said = [(result.status, result.content) for result in results]
        assert said[0] == ("ok", "Jane Austen")
        assert said[1][0] == "policy_error" and "'title' missing" in said[1][1]
        assert said[2][0] == "policy_error" and 'use type "integer"' in said[2][1]
        assert said[3][0] == "policy_error" and "there is no book Ulysses" in said[3][1]
        assert said[4][0] == "policy_error" and "'days' not allowed; use 'title'" in said[4][1]
        # what was turned down unasked is free
        assert [result.cost_usd for result in results] == [USD_PER_CALL, 0, 0, USD_PER_CALL, 0]
        assert cost_usd(rollout, ("tool",)) == pytest.approx(2 * USD_PER_CALL)
        assert sum(entry.latency_s for entry in rollout.ledger) == 1 + 2
        counts = tool_counts(rollout, list(offered))
        assert counts["library_find_author"] == 1 and counts["library_borrow"] == 1
    assert no_children()


def test_an_episode_is_replayed_from_a_cassette_where_there_is_no_server(tmp_path):
    path = str(tmp_path / "tape.jsonl")
    _, _, recorded = play(Cassette(CassetteConfig(mode="record", path=path)))
    _, _, replayed = play(
        Cassette(CassetteConfig(mode="replay", path=path)), command="/nowhere/to/be/found"
    )
    first, again = (
        [to_json(replace(rollout, wall_s=0.0)) for rollout in group.rollouts]
        for group in (recorded, replayed)
    )
    assert again == first and len(first) == 3
