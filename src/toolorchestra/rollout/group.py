"""One group: an episode played many times at once, each rollout judged as it ends.

Void attempts are tried again, and counted. A judge may wait for a network: by then the rollout has
left the gate, so that others are played meanwhile, and its deadline is behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from toolorchestra.judge.base import Judge, judge_rollout
from toolorchestra.judge.match import MATCHER
from toolorchestra.types import Episode, Rollout, Verdict

PlayOnce = Callable[[Episode, int], Awaitable[Rollout]]
"""Plays an episode once, given the sample's number."""
OnDone = Callable[[Rollout], None]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """All rollouts of one episode, in order of `sample`; some may still be void."""

    episode: Episode
    rollouts: tuple[Rollout, ...]
    verdicts: tuple[Verdict | None, ...]
    """One a rollout; None where it is void."""
    num_void: int
    """Attempts that an infrastructure fault ended, replaced ones included."""


async def play_group(
    episode: Episode,
    *,
    play: PlayOnce,
    group_size: int,
    gate: asyncio.Semaphore,
    max_redispatch: int,
    judge: Judge = MATCHER,
    on_done: OnDone = lambda rollout: None,
    first_sample: int = 0,
) -> Played:
    """Plays an episode `group_size` times, each attempt when `gate` lets it in, and judges each.

    Samples are numbered from `first_sample`.
    `on_done` hears of each rollout as it has been judged, for progress displays. If one raises,
    which only a programming error, a lost engine or a judge that fails too often can cause, the
    others are cancelled.
    """

    async def attempt(sample: int) -> tuple[Rollout, Verdict | None, int]:
        num_void = 0
        while True:
            async with gate:
                rollout = await play(episode, sample)
            is_void = rollout.status == "void"
            num_void += is_void
            if not is_void or num_void > max_redispatch:
                rollout, verdict = await judge_rollout(judge, episode.task, rollout)
                on_done(rollout)
                return rollout, verdict, num_void

    ended = await all_or_none([attempt(first_sample + number) for number in range(group_size)])
    return Played(
        episode=episode,
        rollouts=tuple(rollout for rollout, _, _ in ended),
        verdicts=tuple(verdict for _, verdict, _ in ended),
        num_void=sum(num_void for _, _, num_void in ended),
    )


async def all_or_none(pending: Sequence[Awaitable[T]]) -> list[T]:
    """Awaits all at once; the first that raises cancels the others, and is raised as itself."""

    async def run(item: Awaitable[T]) -> T:
        return await item

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(item)) for item in pending]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return [task.result() for task in tasks]
