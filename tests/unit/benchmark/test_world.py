from dataclasses import replace

import pytest
from tests.unit.benchmark.worlds import make_episode, make_world, tool_config

from toolorchestra.benchmark.baselines import baselines
from toolorchestra.benchmark.world import World
from toolorchestra.tool.config import Odds
from toolorchestra.toolset.config import ToolsetConfig


def test_ability_is_the_mean_over_all_skills_that_any_tool_has():
    # math and logic: (0.95 + 0.9) / 2, 0.4 / 2, 0.2 / 2.
    assert make_world().ability() == pytest.approx({"strong": 0.925, "weak": 0.2, "free": 0.1})


def test_tools_without_any_profile_are_all_alike():
    world = make_world(tools={"a": tool_config()}, max_tools=1)
    assert world.ability() == {"a": 0.0}


def test_the_oracle_of_an_episode_is_made_once():
    world, episode = make_world(), make_episode()
    assert world.oracle(episode) is world.oracle(episode)


def test_another_episode_of_the_same_number_gets_its_own_oracle():
    world, episode = make_world(), make_episode()
    first = world.oracle(episode)
    other = world.oracle(make_episode("logic"))
    wish = replace(episode.preference, cost=1.0)
    thrifty = world.oracle(replace(episode, preference=wish))
    plans = [oracle.plan(oracle.start()).utility for oracle in (first, other, thrifty)]
    assert len(set(plans)) == 3


def test_only_simulated_experts_draw_anew():
    tools = {
        "expert": tool_config(profile={"math": Odds(right=0.6)}),
        "program": tool_config("function", {"math": Odds(right=0.6)}),
    }
    world = make_world(tools=tools, max_tools=2)
    template = make_episode().tools[0]
    utilities = {}
    for name in tools:
        offered = (replace(template, name=name, call_cost_usd=0.0, latency_s=0.0),)
        oracle = world.oracle(make_episode(id=name, tools=offered))
        utilities[name] = oracle.plan(oracle.start()).is_solved
    # Three draws of 0.6: 0.648 agree, else one of three with 0.288 (see test_oracle).
    assert utilities == pytest.approx({"expert": 0.744, "program": 0.6})


def test_a_world_says_whether_anything_in_it_is_simulated():
    assert make_world().is_simulated
    assert not make_world(tools={"a": tool_config("function")}, max_tools=1).is_simulated
    assert not make_world(experts="real").is_simulated


def test_the_odds_are_not_known_where_tasks_of_domains_are_played():
    toolset = ToolsetConfig(name="t", tools={"strong": tool_config()}, min_tools=1, max_tools=1)
    assert World(toolset, horizon=3).is_known
    world = World(toolset, horizon=3, has_domains=True)
    assert not world.is_known
    assert set(baselines(world)) == {"random", "ablest", "cheapest", "nothing", "golden"}
