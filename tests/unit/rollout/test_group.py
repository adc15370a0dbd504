import asyncio
from dataclasses import replace

import pytest
from tests.invariant.records import episode, rollout

from toolorchestra.rollout.group import all_or_none, play_group

EPISODES = [replace(episode(), id=f"episode-{i}") for i in range(3)]


def played(item, sample, **changes):
    return rollout(episode_id=item.id, sample=sample, **changes)


async def run(play, **changes):
    options = {"group_size": 2, "max_concurrent": 4, "max_redispatch": 2} | changes
    gate = asyncio.Semaphore(options.pop("max_concurrent"))
    return await all_or_none([play_group(e, play=play, gate=gate, **options) for e in EPISODES])


async def test_every_episode_is_played_group_size_times_in_order():
    async def play(item, sample):
        await asyncio.sleep(0.01 * (3 - sample))  # later samples end first
        return played(item, sample)

    groups = await run(play, group_size=3)
    assert [group.episode.id for group in groups] == [item.id for item in EPISODES]
    for group in groups:
        assert [(r.episode_id, r.sample) for r in group.rollouts] == [
            (group.episode.id, sample) for sample in range(3)
        ]
        assert group.num_void == 0


async def test_no_more_than_max_concurrent_are_in_flight():
    now, most = 0, 0

    async def play(item, sample):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return played(item, sample)

    await run(play, group_size=4, max_concurrent=3)
    assert most == 3


def failing(num_faults):
    """Every sample 1 is void that often."""
    left = {item.id: num_faults for item in EPISODES}

    async def play(item, sample):
        if sample == 1 and left[item.id] > 0:
            left[item.id] -= 1
            return played(item, sample, status="void", fault="503")
        return played(item, sample)

    return play


@pytest.mark.parametrize("num_faults", [1, 2])
async def test_a_void_rollout_is_replaced_and_counted(num_faults):
    done = []
    groups = await run(failing(num_faults), on_done=done.append)
    assert [group.num_void for group in groups] == [num_faults] * 3
    assert {r.status for group in groups for r in group.rollouts} == {"answered"}
    assert len(done) == 6


async def test_a_rollout_that_stays_void_is_kept_and_every_attempt_counted():
    groups = await run(failing(99))
    assert [group.num_void for group in groups] == [3] * 3
    assert [r.status for r in groups[0].rollouts] == ["answered", "void"]


async def test_without_redispatch_a_void_rollout_is_tried_once():
    groups = await run(failing(99), max_redispatch=0)
    assert [group.num_void for group in groups] == [1] * 3


async def test_a_void_rollout_lets_others_in_before_its_next_try():
    order = []

    async def play(item, sample):
        order.append((item.id, sample))
        await asyncio.sleep(0)
        is_first = order.count((item.id, sample)) == 1
        return played(item, sample, status="void" if is_first else "answered")

    await run(play, max_concurrent=1, group_size=1)
    ids = [item.id for item in EPISODES]
    assert [name for name, _ in order] == ids + ids


async def test_a_bug_cancels_all_others_and_comes_through_as_it_is():
    cancelled = []

    async def play(item, sample):
        if (item.id, sample) == ("episode-1", 1):
            raise KeyError("bug")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append((item.id, sample))
            raise

    with pytest.raises(KeyError, match="bug"):
        await run(play, max_concurrent=6)
    assert len(cancelled) == 5


async def test_nothing_to_play_gives_nothing():
    assert await all_or_none([]) == []
