"""The worlds of a run, and what only several groups together can get wrong."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from tests.composed import options_of
from tests.integration.hostile_domain import copy_hostile

from toolorchestra.config import Config
from toolorchestra.domain.load import SHIPPED
from toolorchestra.preference.config import PairConfig, PreferenceConfig
from toolorchestra.provider.config import CassetteConfig, ProviderConfig, ProvidersConfig
from toolorchestra.worlds import check_outside, check_same_experts, check_worlds, worlds_of


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


def test_a_benchmark_has_tasks_of_its_own_whatever_is_trained_on() -> None:
    config = options_of("benchmark=toolscale", "dataset=local")
    assert [(name, count) for name, _, _, count in worlds_of(config)] == [("toolscale", None)]
    assert (config.dataset.name, config.heldout.name) == ("local", "toolscale")
    assert config.dataset.domains == ()
    assert config.domains == config.heldout.domains == SHIPPED


def test_without_tasks_of_its_own_a_benchmark_plays_those_of_the_dataset() -> None:
    assert defaults().heldout is defaults().dataset
    config = options_of("benchmark=local", "dataset=toolscale")
    assert [name for name, _, _, _ in worlds_of(config)] == ["seen", "transfer"]
    assert config.domains == config.heldout.domains == SHIPPED


def test_a_benchmark_that_is_off_needs_no_domain() -> None:
    config = options_of("benchmark=toolscale", "benchmark.num_episodes=0")
    assert config.domains == ()


def test_functions_of_a_benchmarks_domains_are_checked_against_the_tools_too() -> None:
    config = options_of("benchmark=toolscale")
    tools = config.toolset.tools | {"get_member": config.toolset.tools["gpt_5"]}
    toolset = dataclasses.replace(config.toolset, tools=tools)
    with pytest.raises(ValueError, match="name get_member is not allowed in the toolscale world"):
        check_worlds(dataclasses.replace(config, toolset=toolset))


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


def real(**provider) -> Config:
    tools = {"gpt_5": defaults().toolset.tools["gpt_5"]}
    toolset = dataclasses.replace(
        defaults().toolset, experts="real", tools=tools, min_tools=1, max_tools=1
    )
    acme = ProviderConfig(
        base_url="http://localhost:9/v1", **{"models": {"GPT-5": "g"}, **provider}
    )
    group = ProvidersConfig(name="t", providers={"acme": acme})
    return dataclasses.replace(defaults(), toolset=toolset, provider=group)


def test_a_real_model_needs_somebody_who_serves_it() -> None:
    check_outside(real(), real().toolset)
    with pytest.raises(ValueError, match=r"none serves 'GPT-5', which tool\.gpt_5 needs"):
        check_outside(real(models={}), real().toolset)


def test_a_real_model_needs_its_key_before_anything_starts_but_a_replay_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    config = real(key_env="NO_SUCH_KEY")
    with pytest.raises(ValueError, match="environment variable NO_SUCH_KEY is not set"):
        check_outside(config, config.toolset)
    config.provider.cassette = CassetteConfig(mode="replay", path="x.jsonl")
    check_outside(config, config.toolset)


def test_a_call_is_to_end_by_itself_before_the_rollout_cuts_it_off() -> None:
    rollout = dataclasses.replace(defaults().rollout, tool_timeout_s=60.0)
    config = dataclasses.replace(real(), rollout=rollout)
    with pytest.raises(ValueError, match=r"rollout\.tool_timeout_s: 60 is not allowed"):
        check_outside(config, config.toolset)


def test_no_tool_is_real_in_one_world_and_simulated_in_another() -> None:
    transfer = defaults().benchmark.transfer
    assert transfer is not None
    toolset = dataclasses.replace(transfer.toolset, experts="real")
    config = dataclasses.replace(defaults(), toolset=toolset)
    with pytest.raises(
        ValueError, match="real is not allowed with simulated in the transfer world"
    ):
        check_same_experts(config)
    check_same_experts(defaults())


def test_the_originals_protocol_needs_fronts_in_every_world() -> None:
    fields = {"model": dataclasses.replace(defaults().model, protocol="upstream")}
    with pytest.raises(ValueError, match="in the seen world, whose toolset local has no fronts"):
        check_worlds(dataclasses.replace(defaults(), **fields))
    fields["toolset"] = options_of("toolset=upstream").toolset
    with pytest.raises(ValueError, match="in the transfer world, whose toolset unseen .*; use "):
        check_worlds(dataclasses.replace(defaults(), **fields))
    fields["benchmark"] = dataclasses.replace(defaults().benchmark, transfer=None)
    check_worlds(dataclasses.replace(defaults(), **fields))


def test_a_chat_plays_a_toolset_with_fronts() -> None:
    toolset = options_of("toolset=upstream").toolset
    check_worlds(dataclasses.replace(defaults(), toolset=toolset))


@pytest.mark.sandbox
def test_a_domain_of_a_folder_is_checked_as_a_shipped_one_is(tmp_path) -> None:
    folder = copy_hostile(tmp_path)
    config = goals(f"+dataset.domain.folders.bank={folder}")
    check_worlds(config)
    tools = {**config.toolset.tools, "attempt": config.toolset.tools["gpt_5"]}
    toolset = dataclasses.replace(config.toolset, tools=tools)
    with pytest.raises(
        ValueError, match="name attempt is not allowed .* function of the domain bank"
    ):
        check_worlds(dataclasses.replace(config, toolset=toolset))
    (folder / "policy.md").write_text("")
    with pytest.raises(ValueError, match="folders.bank: .* is not allowed: policy.md: is empty"):
        check_worlds(config)


def test_a_model_is_never_shown_more_than_a_call_may_pass_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choices = ("model=orchestrator_8b", "toolset=upstream", "benchmark.transfer=null")
    config = options_of(*choices, "toolset.experts=real")
    for provider in config.provider.providers.values():
        if provider.key_env:
            monkeypatch.setenv(provider.key_env, "not-a-key")
    served = {tool.priced_as: "x" for tool in config.toolset.tools.values()}
    some = next(iter(config.provider.providers.values()))
    config.provider.providers["all"] = dataclasses.replace(some, models=served)
    check_outside(config, config.toolset)
    config.provider.max_argument_chars = 900_000
    with pytest.raises(ValueError, match="max_argument_chars: 900000 .*; use at least 960000"):
        check_outside(config, config.toolset)


@pytest.mark.parametrize("usd", [0.0, -1.0, float("nan")])
def test_a_budget_that_allows_nothing_is_refused(usd: float) -> None:
    with pytest.raises(ValueError, match="max_cost_usd: .* use dollars above 0"):
        check_worlds(dataclasses.replace(defaults(), max_cost_usd=usd))


@pytest.mark.parametrize(
    "overrides",
    [
        ("toolset=full", "toolset.experts=real", "provider=cluster", "benchmark.transfer=null"),
        (
            "toolset.experts=real",
            "toolset.max_tools=3",
            "tool@toolset.tools=[gpt_5, llama_3_3_70b, code_interpreter]",
        ),
    ],
)
def test_the_toolsets_of_the_docs_are_served_once_the_keys_are_set(
    overrides: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "TOGETHER", "TAVILY"):
        monkeypatch.setenv(f"{name}_API_KEY", "some key")
    check_worlds(options_of(*overrides))


def goals(*overrides: str) -> Config:
    return options_of("dataset=toolscale", *overrides)


def test_functions_of_domains_are_offered_in_a_chat_and_not_behind_fronts() -> None:
    check_worlds(goals())
    upstream = goals("model.protocol=upstream", "toolset=upstream", "benchmark.transfer=null")
    with pytest.raises(ValueError, match="'upstream' is not allowed with tasks of the domain libr"):
        check_worlds(upstream)


def test_no_tool_has_the_name_of_a_function_of_the_tasks_domain() -> None:
    config = goals()
    tools = {**config.toolset.tools, "get_book": config.toolset.tools["gpt_5"]}
    toolset = dataclasses.replace(config.toolset, tools=tools)
    with pytest.raises(ValueError, match="name get_book is not allowed in the seen world"):
        check_worlds(dataclasses.replace(config, toolset=toolset))
    check_worlds(dataclasses.replace(defaults(), toolset=toolset))
