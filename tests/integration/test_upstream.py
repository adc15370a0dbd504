"""The original's protocol among all parts: drawn episodes, simulated experts, rows, evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from random import Random

import pytest
from tests.composed import options_of
from tests.integration.command import Command, run_dirs

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.build import build_sampler, build_speaker, build_stage
from toolorchestra.codec import from_json, to_json
from toolorchestra.dataset.source import make_source
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.model.policy import load_policy
from toolorchestra.reward.config import RewardConfig
from toolorchestra.reward.measures import cost_usd
from toolorchestra.rollout.group import Played
from toolorchestra.trainer.collect import Scorer
from toolorchestra.types import Episode, Group, Turn

CHOICES = (
    "toolset=upstream",
    "benchmark.transfer=null",
    "model.protocol=upstream",
    "model.max_context=4000",
    "model.max_new_tokens=120",
)


def wanderer(episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
    """Calls any alias of any function; from the fifth turn on, one that answers."""
    fronts = [f for f in episode.fronts if len(turns) < 4 or f.gives == "answer"]
    front = rng.choice(fronts)
    call = {"name": front.name, "arguments": {"model": rng.choice(list(front.aliases))}}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


@pytest.fixture(scope="module")
def groups() -> Iterator[list[Played]]:
    options = options_of(*CHOICES, "toolset.min_tools=5")
    speaker = build_speaker(options.model, load_policy(options.model)[1])
    tasks = make_source(options.dataset, seed=1)
    draw = build_sampler(options, options.toolset, options.pricing, tasks, "train")
    engine = ScriptedEngine(wanderer, speaker.tokenizer, end_id=speaker.renderer.end_of_turn_id)
    with closing(build_stage(options, speaker)) as stage:
        episodes = [draw(index) for index in range(6)]
        yield stage.play(engine, episodes, group_size=6, is_greedy=False)


def test_simulated_experts_answer_behind_their_aliases(groups):
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    assert {rollout.status for rollout in rollouts} == {"answered"}
    for group in groups:
        answering = {
            alias.tool
            for front in group.episode.fronts
            if front.gives == "answer"
            for alias in front.aliases.values()
        }
        for rollout in group.rollouts:
            (last,) = rollout.turns[-1].results
            assert last.name in answering and rollout.answer == last.content
            assert rollout.ledger[-1].name == last.name and rollout.ledger[-1].cost_usd > 0
            assert cost_usd(rollout) >= rollout.ledger[-1].cost_usd
    assert any(len(rollout.turns) > 2 for rollout in rollouts)
    assert any("answer: " in (rollout.answer or "") for rollout in rollouts)


def test_every_turn_trains_with_the_advantage_of_its_rollout(groups):
    score = Scorer(
        reward=RewardConfig(name="paper"), algorithm=AlgorithmConfig(homogeneity_std=0.0)
    )
    values: dict[str, set[float]] = {}
    for group in groups:
        scored = score(group)
        kept = [
            rollout
            for rollout, is_kept in zip(group.rollouts, scored.decision.is_kept, strict=True)
            if is_kept
        ]
        assert len(scored.rows) == sum(len(rollout.turns) for rollout in kept) > 0
        for row in scored.rows:
            values.setdefault(row.name, set()).add(row.advantage)
    assert all(len(of_rollout) == 1 for of_rollout in values.values())
    assert len(set.union(*values.values())) > 2


def test_groups_are_written_down_and_read_back_equal(groups):
    score = Scorer(reward=RewardConfig(name="paper"), algorithm=AlgorithmConfig())
    for played in groups:
        group = score(played).group
        assert from_json(Group, json.loads(json.dumps(to_json(group)))) == group


def test_the_command_evaluates_in_the_originals_protocol_beside_scripted_policies(tmp_path):
    quick = ("num_threads=1", "benchmark.num_episodes=2", "rollout.max_turns=6")
    sampled = ("benchmark.is_greedy=false", "model.max_new_tokens=16")
    choices = (*CHOICES[:1], *CHOICES[2:4], *quick, *sampled)
    done = Command(tmp_path, *choices, script="evaluate.py").wait()
    assert done.status == 0, done.err
    (run_dir,) = run_dirs(tmp_path)
    results = [json.loads(line) for line in (run_dir / "results.jsonl").read_text().splitlines()]
    ours = [result for result in results if result["policy"] == "policy"]
    assert len(ours) == 2
    # It never saw this prompt: whatever it says, only an answering call could have answered.
    assert all(result["status"] in ("answered", "max_turns") for result in ours)
    others = [r for r in results if r["policy"] in ("random", "ablest", "cheapest", "oracle")]
    assert {result["status"] for result in others} == {"answered"}
    assert all(result["num_malformed"] == 0 for result in others)


def test_a_toolset_without_fronts_is_refused_with_one_sentence(tmp_path):
    done = Command(tmp_path, "model.protocol=upstream", script="evaluate.py").wait()
    assert done.status == 1
    told = done.err.strip().splitlines()[-1]
    assert told.startswith("error: model.protocol: 'upstream' is not allowed in the local world")
