"""The worlds of a run, and what only several groups together can get wrong."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from tests.composed import options_of

from toolorchestra.config import Config
from toolorchestra.preference.config import PairConfig, PreferenceConfig
from toolorchestra.worlds import check_worlds, worlds_of


@cache
def defaults() -> Config:
    return options_of()


def test_the_worlds_are_that_of_training_and_that_of_unseen_tools_and_prices() -> None:
    told = [
        (name, toolset.name, pricing.name) for name, toolset, pricing, _ in worlds_of(defaults())
    ]
    assert told == [("seen", "local", "official"), ("transfer", "unseen", "alt")]


def test_without_an_evaluation_there_is_but_the_world_of_training() -> None:
    benchmark = dataclasses.replace(defaults().benchmark, num_episodes=0)
    config = dataclasses.replace(defaults(), benchmark=benchmark)
    assert [(name, count) for name, _, _, count in worlds_of(config)] == [("seen", 0)]


def test_notes_name_the_world_and_every_price_that_is_not_the_schedules_own() -> None:
    notes = check_worlds(defaults())
    assert any(note.startswith("seen world: the policy pays a price borrowed") for note in notes)
    assert any(note.startswith("transfer world: o3_mini_query pays") for note in notes)
    assert any("transfer world: deepseek_math_7b is masked" in note for note in notes)


def with_pair(tool: str) -> Config:
    pair = PairConfig(instruction="Go.", tools={tool: 1.0})
    preference = PreferenceConfig(name="mine", kinds={"mine": 1.0}, pairs={"mine": pair})
    return dataclasses.replace(defaults(), preference=preference)


def test_a_preference_over_a_tool_of_the_toolset_is_allowed_and_over_any_other_is_not() -> None:
    check_worlds(with_pair("gpt_5"))
    with pytest.raises(ValueError, match=r"preference\.pairs\.mine\.tools: 'gpt_9' .* use "):
        check_worlds(with_pair("gpt_9"))


def test_a_price_that_is_missing_stops_a_run_that_asked_for_it() -> None:
    pricing = dataclasses.replace(defaults().pricing, missing="refuse", borrow=[])
    tools = dict(defaults().toolset.tools)
    tools["gpt_5"] = dataclasses.replace(tools["gpt_5"], priced_as="openmath-llama-2-70b")
    toolset = dataclasses.replace(defaults().toolset, tools=tools)
    config = dataclasses.replace(defaults(), pricing=pricing, toolset=toolset)
    with pytest.raises(ValueError, match="openmath-llama-2-70b"):
        check_worlds(config)
