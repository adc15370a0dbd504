"""The oracle's bound in the real loop: its own play meets it, and no other policy beats it."""

import math
from dataclasses import replace
from random import Random

import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer

from toolorchestra.benchmark.baselines import baselines
from toolorchestra.benchmark.evaluate import oracle_bound, trial_of
from toolorchestra.benchmark.world import World
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.dataset.local import local_task
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.preference.pairs import draw_preference
from toolorchestra.reward.measures import cost_usd
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.loop import Speaker
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.config import Odds, ToolConfig
from toolorchestra.tool.simulated import SimulatedExpert
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.offer import offer
from toolorchestra.types import Episode, Price

NUM_EPISODES = 300
SKILLS = {"math": 1.0, "lookup": 1.0, "multihop": 1.0, "service": 1.0}
KINDS = dict.fromkeys(("none", "balanced", "frugal", "hurried", "thorough", "tool"), 1.0)
POLICY_PRICE = Price(usd_per_output_mtok=2.0, source="made up", date="2026-01-01")
HORIZON = 4


def expert(latency_s, output_tokens, **profile):
    return ToolConfig(
        kind="llm",
        description="An expert.",
        priced_as="x",
        latency_s=latency_s,
        overhead_tokens=100,
        output_tokens=output_tokens,
        profile={skill: Odds(right=r, abstain=a) for skill, (r, a) in profile.items()},
    )


TOOLS = {
    "large": expert(30, 2000, math=(0.9, 0.05), lookup=(0.6, 0.2), multihop=(0.7, 0.1)),
    "medium": expert(10, 600, math=(0.6, 0.1), lookup=(0.5, 0.1), multihop=(0.5, 0.1)),
    "small": expert(3, 200, math=(0.3, 0.1), lookup=(0.3, 0.4), multihop=(0.2, 0.2)),
    "finder": expert(1, 100, lookup=(0.8, 0.2), multihop=(0.0, 0.0)),
    "tracker": expert(1, 0, service=(1.0, 0.0)),
}
USD_PER_MTOK = {"large": 10.0, "medium": 3.0, "small": 0.5, "finder": 1.0, "tracker": 0.1}


def make_world():
    toolset = ToolsetConfig(name="t", tools=TOOLS, min_tools=1, max_tools=len(TOOLS))
    return World(toolset, horizon=HORIZON)


def make_episode(index):
    rng = Random(index)
    task = local_task(index, seed=7, split="heldout", skills=SKILLS)
    names = rng.sample(list(TOOLS), rng.randint(2, 4))
    price = Price(source="made up", date="2026-01-01")
    tools = [
        offer(
            name,
            TOOLS[name],
            question=task.question,
            price=replace(
                price,
                usd_per_input_mtok=USD_PER_MTOK[name] / 4,
                usd_per_output_mtok=USD_PER_MTOK[name],
            ),
            is_simulated=True,
        )
        for name in names
    ]
    return Episode(
        id=f"heldout-{index:06d}",
        seed=rng.getrandbits(63),
        task=task,
        tools=tuple(tools),
        pricing="made up",
        policy_priced_as=("policy",),
        policy_price=POLICY_PRICE,
        preference=draw_preference(KINDS, names, rng, split="eval"),
        is_solvable=True,
    )


@pytest.fixture(scope="module")
def contest():
    """Each policy's results, the bound's, and what each rollout's own tokens took off its U."""
    tokenizer = qwen_tokenizer()
    renderer = Renderer(tokenizer, template=builtin_template(), is_thinking=False)
    speaker = Speaker(
        tokenizer=tokenizer, renderer=renderer, system_prompt="Solve.", tool_style="compact"
    )
    stage = Stage(
        tools={name: SimulatedExpert(name, config) for name, config in TOOLS.items()},
        speaker=speaker,
        config=RolloutConfig(),
        max_new_tokens=256,
        max_context=8192,
    )
    world, episodes = make_world(), [make_episode(index) for index in range(NUM_EPISODES)]
    results, own = {}, {}
    for name, policy in baselines(world).items():
        engine = ScriptedEngine(policy, tokenizer, end_id=renderer.end_of_turn_id)
        played = stage.play(engine, episodes, group_size=1, is_greedy=True)
        results[name] = [trial_of(name, "seen", item).result for item in played]
        own[name] = [own_cost(item, r) for item, r in zip(played, results[name], strict=True)]
    stage.close()
    return results, own, oracle_bound(world, "seen", episodes)


def own_cost(played, result):
    """Utility that the policy's own tokens cost it."""
    cost_all = math.fsum(tool.call_cost_usd for tool in played.episode.tools)
    spent = cost_usd(played.rollouts[0], kinds=("policy",))
    return result.is_solved * played.episode.preference.cost * spent / cost_all


def mean_and_error(values):
    mean = math.fsum(values) / len(values)
    variance = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def test_the_oracles_play_earns_what_it_expects_less_its_own_tokens(contest):
    results, own, bound = contest
    gaps = [
        played.utility + cost - expected.utility
        for played, cost, expected in zip(results["oracle"], own["oracle"], bound, strict=True)
    ]
    mean, error = mean_and_error(gaps)
    assert sum(own["oracle"]) > 0
    assert 0 < error < 0.05
    assert abs(mean) < 1.96 * error


def test_its_accuracy_cost_and_latency_are_those_that_it_expects(contest):
    results, _, bound = contest
    pairs = list(zip(results["oracle"], bound, strict=True))
    for key in ("is_solved", "latency_s"):
        mean, error = mean_and_error([getattr(a, key) - getattr(b, key) for a, b in pairs])
        assert abs(mean) < 2.58 * error, key


@pytest.mark.parametrize("name", ["random", "ablest", "cheapest", "greedy"])
def test_no_scripted_policy_beats_the_bound(contest, name):
    results, own, bound = contest
    gaps = [
        played.utility + cost - expected.utility
        for played, cost, expected in zip(results[name], own[name], bound, strict=True)
    ]
    mean, error = mean_and_error(gaps)
    assert mean < 3 * error


def test_the_world_leaves_room_between_the_oracle_and_blind_play(contest):
    results, _, bound = contest
    best = max(
        math.fsum(r.utility for r in results[name]) for name in ("random", "ablest", "cheapest")
    )
    assert math.fsum(r.utility for r in bound) - best > 0.15 * NUM_EPISODES
