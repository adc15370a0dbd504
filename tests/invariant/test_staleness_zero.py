"""Staleness 0 is synchronous training, exactly: the pool's steps are those of plain play."""

from dataclasses import dataclass, replace

import pytest
from tests.invariant.test_reproducible_rollouts import (
    GROUP_SIZE,
    NAMES,
    MoodyTool,
    MusingEngine,
)
from tests.unit.rollout.stage import make_episode, speaker

from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.pool import Pool

STEPS, GROUPS = 3, 2


@dataclass(frozen=True)
class Kept:
    played: Played
    is_kept: bool


def sample_episode(index):
    return replace(make_episode(*NAMES), id=f"episode-{index}", seed=index)


def stage_of(most_s):
    return Stage(
        tools={name: MoodyTool(name, most_s) for name in NAMES},
        speaker=speaker(),
        config=RolloutConfig(max_turns=6, max_concurrent=12),
        max_new_tokens=100,
        max_context=900,
    )


def comparable(played):
    return [replace(rollout, wall_s=0.0) for rollout in played.rollouts]


def by_plain_play():
    """Every step's groups are played, all of them, before the next step's begin."""
    stage, engine = stage_of(0.0), MusingEngine(num_slots=12)
    steps = []
    for step in range(STEPS):
        engine.version = step
        episodes = [sample_episode(step * GROUPS + i) for i in range(GROUPS)]
        played = stage.play(engine, episodes, group_size=GROUP_SIZE, is_greedy=False)
        steps.append([comparable(item) for item in played])
    stage.close()
    return steps


def by_pool(*, dull=(), most_s=0.01):
    """The same by the pool; groups of the episodes `dull` are dropped and replaced."""
    stage, engine = stage_of(most_s), MusingEngine(num_slots=12)
    pool = Pool(
        sample_episode=sample_episode,
        play=lambda item: stage.play_group(engine, item, group_size=GROUP_SIZE, is_greedy=False),
        settle=lambda played: Kept(played, int(played.episode.id.split("-")[1]) not in dull),
        groups_per_step=GROUPS,
        max_staleness=0,
        max_replacements=9,
    )
    steps = []
    for step in range(STEPS):
        engine.version = step
        batch = stage.run(pool.take(step))
        steps.append([comparable(group.played) for group in batch.groups])
    stage.close()
    return steps


@pytest.fixture(scope="module")
def plain():
    return by_plain_play()


def test_the_pools_steps_are_bit_equal_to_plain_play(plain):
    assert len({str(group) for step in plain for group in step}) == STEPS * GROUPS
    assert by_pool() == plain


def test_replacing_dropped_groups_plays_the_episodes_that_come_next_whatever_the_tools_speed(plain):
    (first, second, third) = by_pool(dull={1, 2})
    names = [[group[0].episode_id for group in step] for step in (first, second, third)]
    assert names[0] == [f"episode-{i}" for i in range(4)], "1 and 2 were dropped, 2 and 3 played"
    assert names[1] == ["episode-4", "episode-5"] and names[2] == ["episode-6", "episode-7"]
    ids = [[turn.completion_ids for turn in r.turns] for r in first[0]]
    assert ids == [[turn.completion_ids for turn in r.turns] for r in plain[0][0]]
    again = by_pool(dull={1, 2}, most_s=0.0)
    assert [[[t.completion_ids for t in r.turns] for r in g] for s in again for g in s] == [
        [[t.completion_ids for t in r.turns] for r in g] for s in (first, second, third) for g in s
    ]
