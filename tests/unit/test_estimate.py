from dataclasses import replace
from typing import cast

import pytest
from omegaconf import OmegaConf
from tests.composed import composed, options_of
from tests.unit.benchmark.worlds import make_episode, make_world

from toolorchestra.benchmark.contest import Arena
from toolorchestra.config import EvaluateConfig
from toolorchestra.estimate import CALLS, estimate, judging
from toolorchestra.judge.config import JudgeConfig

LEFT = {"seen": 100, "local": 100}


def options(*words):
    return options_of(
        "toolset=full", "toolset.experts=real", "provider=cluster", "judge=llm",
        "benchmark.transfer=null", "judge.system=aaaa", *words,
    )  # fmt: skip


def arena(*names):
    """One task, with these tools at 10, 1 and 0 cents a call."""
    episode = make_episode()
    tools = [replace(tool, name=name) for tool, name in zip(episode.tools, names, strict=False)]
    return Arena(
        name="seen", world=make_world(), episodes=(replace(episode, tools=tuple(tools)),) * 2
    )


def test_paid_tools_are_reckoned_at_their_mean_typical_call():
    # gpt_5 at $0.10 and claude at $0.01 are paid to somebody; the interpreter is free
    (tools, _) = estimate(
        options(), [arena("gpt_5", "gpt_5_mini", "code_interpreter")], LEFT, num_policy=0
    )
    assert tools.usd == pytest.approx(100 * CALLS * (0.10 + 0.01) / 2)
    assert "100 trials × 3 calls of $0.05500" in tools.how


def test_a_bound_on_each_rollout_bounds_the_estimate():
    (tools, _) = estimate(
        options("rollout.max_cost_usd=0.02"), [arena("gpt_5")], LEFT, num_policy=0
    )
    assert tools.usd == pytest.approx(2.0)
    assert "rollout.max_cost_usd" in tools.how


def test_simulated_experts_a_replay_and_what_is_done_already_cost_nothing():
    simulated = options("toolset.experts=simulated")
    simulated.judge = JudgeConfig()
    assert estimate(simulated, [arena("gpt_5")], LEFT, num_policy=0) == ()
    replay = options("provider.cassette.mode=replay", "provider.cassette.path=tape")
    assert estimate(replay, [arena("gpt_5")], LEFT, num_policy=0) == ()
    assert estimate(options(), [arena("gpt_5")], {"seen": 0}, num_policy=0) == ()


def test_servers_of_ones_own_send_no_bill():
    given = options()
    given.judge = JudgeConfig()
    assert estimate(given, [arena("llama_3_3_70b")], LEFT, num_policy=0) == ()


def test_a_judge_is_reckoned_as_if_asked_about_every_answer():
    given = options("judge.user='{question}{gold}{answer}'")
    item = judging(given.judge, given.pricing, given.provider, 10)
    # 4 + 24 + 1000 characters are 257 tokens; GPT-5 takes $1.25 and $10 a million
    assert item.usd == pytest.approx(10 * (257 * 1.25 + 500 * 10) / 1e6)
    assert judging(given.judge, given.pricing, given.provider, 0) is None


def test_a_policy_behind_an_api_is_reckoned_by_its_messages_where_it_needs_a_key():
    words = ("model=api/gpt_5", "benchmark.transfer=null")
    given = cast(EvaluateConfig, OmegaConf.to_object(composed(*words, command="evaluate")))
    own = replace(arena("gpt_5"), name="local")
    # $1.25 and $10 a million tokens
    (policy,) = estimate(given, [own], LEFT, num_policy=20)
    assert policy.usd == pytest.approx(20 * (CALLS + 1) * (4000 * 1.25e-6 + 500 * 10e-6))
    assert "policy" in policy.how and "20 trials × 4 messages" in policy.how
    assert estimate(given, [own], LEFT, num_policy=0) == ()
