import asyncio
from dataclasses import replace

import pytest
from tests.invariant.records import entry, episode, rollout

from toolorchestra.judge.base import Judged
from toolorchestra.rollout.group import all_or_none, play_group
from toolorchestra.types import Verdict

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


class SlowJudge:
    """Decides only when it is let."""

    def __init__(self):
        self.let, self.waiting = asyncio.Event(), []

    async def judge(self, task, answer, *, turn):
        self.waiting.append(answer)
        await self.let.wait()
        verdict = Verdict(is_solved=answer == "right", decided_by="judge:slow")
        return Judged(verdict=verdict, bill=entry("judge", 0.25))

    async def close(self):
        """Holds nothing."""


async def test_each_rollout_is_judged_as_it_ends_and_verdicts_keep_their_order():
    async def play(item, sample):
        await asyncio.sleep(0.01 * (3 - sample))  # later samples end first
        if sample == 2:
            return played(item, sample, status="void", fault="503")
        return played(item, sample, answer=["4", "5"][sample])

    groups = await run(play, group_size=3, max_redispatch=0)
    assert [v and v.is_solved for v in groups[0].verdicts] == [True, False, None]


async def test_a_judge_that_waits_holds_neither_the_gate_nor_other_judgements():
    judge, played_now = SlowJudge(), []

    async def play(item, sample):
        played_now.append(sample)
        return played(item, sample, answer=["right", "wrong"][sample % 2])

    gate = asyncio.Semaphore(1)
    group = asyncio.create_task(
        play_group(EPISODES[0], play=play, group_size=6, gate=gate, max_redispatch=0, judge=judge)
    )
    async with asyncio.timeout(30):
        while len(judge.waiting) < 6:  # all were played through a gate of one
            await asyncio.sleep(0)
    assert not gate.locked() and not group.done()
    judge.let.set()
    done = await group
    assert [verdict.is_solved for verdict in done.verdicts] == [True, False] * 3
    assert [r.ledger[-1].kind for r in done.rollouts] == ["judge"] * 6


async def test_a_rollout_that_was_replaced_is_judged_once():
    judge = SlowJudge()
    judge.let.set()
    gate, attempts = asyncio.Semaphore(2), []

    async def play(item, sample):
        attempts.append(sample)
        return played(item, sample, status="void" if len(attempts) == 1 else "answered")

    await play_group(EPISODES[0], play=play, group_size=1, gate=gate, max_redispatch=1, judge=judge)
    assert (len(attempts), len(judge.waiting)) == (2, 1)
