"""The pool: how far ahead it samples, what it replaces, what it gives up, what it hands out."""

import asyncio
from dataclasses import dataclass, replace

import pytest
from tests.invariant.records import episode

from toolorchestra.rollout.group import Played
from toolorchestra.rollout.pool import Pool, PoolState


@dataclass(frozen=True)
class Group:
    index: int
    is_kept: bool


class Play:
    """Groups that end when told to; those in `dull` are dropped by the filters."""

    def __init__(self, dull=(), instant=False):
        self.started, self.cancelled = [], []
        self.dull, self.instant = set(dull), instant
        self._ends = {}

    async def __call__(self, item):
        index = int(item.id)
        self.started.append(index)
        try:
            if not self.instant:
                await self._ends.setdefault(index, asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(index)
            raise
        return Played(episode=item, rollouts=(), verdicts=(), num_void=0)

    def settle(self, played):
        return Group(int(played.episode.id), int(played.episode.id) not in self.dull)

    async def end(self, *indices):
        for index in indices:
            self._ends.setdefault(index, asyncio.Event()).set()
        await settle_down()


async def settle_down():
    for _ in range(20):
        await asyncio.sleep(0)


def make_pool(play, **changes):
    options = {"groups_per_step": 3, "max_staleness": 0, "max_replacements": 99} | changes
    return Pool(
        sample_episode=lambda index: replace(episode(), id=str(index)),
        play=play,
        settle=getattr(play, "settle", None),
        **options,
    )


def taken(batch):
    return [group.index for group in batch.groups]


async def test_without_staleness_a_step_plays_its_own_groups_and_nothing_ahead():
    play = Play()
    pool = make_pool(play)
    assert play.started == []
    for step in range(3):
        step_task = asyncio.create_task(pool.take(step))
        await settle_down()
        assert play.started == list(range(3 * (step + 1)))
        await play.end(*range(3 * step, 3 * step + 3))
        batch = await step_task
        assert taken(batch) == [3 * step, 3 * step + 1, 3 * step + 2]
        assert batch.num_ahead == 0
        await settle_down()
        assert len(play.started) == 3 * (step + 1), "nothing starts while the weights are updated"


async def test_with_staleness_the_next_steps_are_sampled_while_this_one_waits_and_trains():
    play = Play()
    pool = make_pool(play, max_staleness=2)
    first = asyncio.create_task(pool.take(0))
    await settle_down()
    assert len(play.started) == 9, "(2 + 1) steps of 3"
    await play.end(0, 1, 2)
    assert (await first).num_ahead == 6
    await settle_down()
    assert len(play.started) == 9, "2 steps of 3 are ahead already"
    second = asyncio.create_task(pool.take(1))
    await settle_down()
    assert len(play.started) == 12
    await play.end(*range(3, 6))
    assert taken(await second) == [3, 4, 5]
    await pool.close()


async def test_finished_groups_are_handed_out_oldest_first():
    play = Play()
    pool = make_pool(play, max_staleness=1)
    step = asyncio.create_task(pool.take(0))
    await settle_down()
    await play.end(5, 3, 4)
    assert taken(await step) == [3, 4, 5], "whichever three end first make the step"
    await play.end(2, 0)
    step = asyncio.create_task(pool.take(1))
    await settle_down()
    await play.end(1, 6, 7)
    assert taken(await step) == [0, 1, 2]
    await pool.close()


async def test_dropped_groups_are_replaced_so_that_the_step_stays_full_and_they_are_told_of():
    play = Play(dull={0, 2, 4}, instant=True)
    batch = await make_pool(play).take(0)
    assert taken(batch) == [0, 1, 2, 3, 4, 5]
    assert [group.index for group in batch.groups if group.is_kept] == [1, 3, 5]
    assert batch.num_replaced == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_without_staleness_a_step_does_not_depend_on_which_group_ends_first(order):
    play = Play(dull={1, 3})
    pool = make_pool(play)
    step = asyncio.create_task(pool.take(0))
    await settle_down()
    for index in order:
        await play.end(index)
    await play.end(3)
    await play.end(4)
    assert taken(await step) == [0, 1, 2, 3, 4]
    assert len(play.started) == 5


async def test_beyond_the_bound_a_step_trains_on_fewer_groups_and_ends():
    play = Play(dull=set(range(100)), instant=True)
    pool = make_pool(play, max_replacements=2)
    assert taken(await pool.take(0)) == [0, 1, 2, 3, 4]
    assert taken(await pool.take(1)) == [5, 6, 7, 8, 9]
    assert taken(await make_pool(Play(dull={1}, instant=True), max_replacements=0).take(0)) == [
        0,
        1,
        2,
    ]


async def test_a_group_older_than_allowed_is_given_up_and_counted_in_flight_or_ready():
    play = Play()
    pool = make_pool(play, max_staleness=1)
    step = asyncio.create_task(pool.take(0))
    await settle_down()  # version 0 began 0..5
    await play.end(3, 4, 5)
    await step
    step = asyncio.create_task(pool.take(1))
    await settle_down()  # version 1 began 6, 7, 8
    await play.end(0, 6, 7, 8)
    assert taken(await step) == [0, 6, 7]
    step = asyncio.create_task(pool.take(2))
    await settle_down()
    assert sorted(play.cancelled) == [1, 2], "version 0 began them, two updates ago"
    await play.end(*range(9, 14))
    batch = await step
    assert batch.num_stale == 2
    assert 8 in taken(batch)
    await pool.close()


async def test_what_a_rollout_raises_ends_the_step_as_it_is():
    async def play(item):
        raise KeyError("bug")

    pool = Pool(
        sample_episode=lambda index: replace(episode(), id=str(index)),
        play=play, settle=None, groups_per_step=2, max_staleness=0, max_replacements=0,
    )  # fmt: skip
    with pytest.raises(KeyError, match="bug"):
        await pool.take(0)


async def test_what_scoring_raises_ends_the_step_too():
    def settle(played):
        raise ArithmeticError("no reward")

    play = Play(instant=True)
    play.settle = settle
    with pytest.raises(ArithmeticError, match="no reward"):
        await make_pool(play).take(0)


async def test_closing_ends_all_that_is_in_flight():
    play = Play()
    pool = make_pool(play, max_staleness=1)
    step = asyncio.create_task(pool.take(0))
    await settle_down()
    step.cancel()
    await pool.close()
    assert sorted(play.cancelled) == [0, 1, 2, 3, 4, 5]


async def test_a_checkpoint_keeps_what_is_in_flight_or_ready_and_it_is_played_first_after_it():
    play = Play()
    pool = make_pool(play, max_staleness=1)
    step = asyncio.create_task(pool.take(0))
    await settle_down()
    await play.end(0, 2, 5, 4)
    assert taken(await step) == [0, 2, 4]
    state = await pool.state()
    assert state == PoolState(next_episode=6, pending=(1, 3, 5))
    await pool.close()
    again = Play()
    pool = make_pool(again, max_staleness=1)
    await pool.restore(state)
    step = asyncio.create_task(pool.take(1))
    await settle_down()
    assert again.started == [1, 3, 5, 6, 7, 8]
    step.cancel()
    await pool.close()


async def test_without_staleness_a_checkpoint_holds_a_number_alone():
    pool = make_pool(Play(dull={1}, instant=True))
    await pool.take(0)
    assert await pool.state() == PoolState(next_episode=4, pending=())
