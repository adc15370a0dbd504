"""Groups of rollouts in flight at once; void ones are tried again, and counted either way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from toolorchestra.types import Episode, Rollout

PlayOnce = Callable[[Episode, int], Awaitable[Rollout]]
"""Plays an episode once, given the sample's number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """All rollouts of one episode, in order of `sample`; some may still be void."""

    episode: Episode
    rollouts: tuple[Rollout, ...]
    num_void: int
    """Attempts that an infrastructure fault ended, replaced ones included."""


async def play_groups(
    episodes: Sequence[Episode],
    *,
    play: PlayOnce,
    group_size: int,
    max_concurrent: int,
    max_redispatch: int,
    on_done: Callable[[Rollout], None] = lambda rollout: None,
) -> list[Played]:
    """Plays every episode `group_size` times, at most `max_concurrent` rollouts at once.

    `on_done` hears of each rollout as it ends, for progress displays. If one rollout raises, which
    only a programming error or a lost engine can cause, the others are cancelled.
    """
    gate = asyncio.Semaphore(max_concurrent)

    async def attempt(episode: Episode, sample: int) -> tuple[Rollout, int]:
        num_void = 0
        while True:
            async with gate:
                rollout = await play(episode, sample)
            is_void = rollout.status == "void"
            num_void += is_void
            if not is_void or num_void > max_redispatch:
                on_done(rollout)
                return rollout, num_void

    try:
        async with asyncio.TaskGroup() as tasks:
            pending = [
                [tasks.create_task(attempt(episode, sample)) for sample in range(group_size)]
                for episode in episodes
            ]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return [
        _played(episode, [task.result() for task in group])
        for episode, group in zip(episodes, pending, strict=True)
    ]


def _played(episode: Episode, ended: Sequence[tuple[Rollout, int]]) -> Played:
    return Played(
        episode=episode,
        rollouts=tuple(rollout for rollout, _ in ended),
        num_void=sum(num_void for _, num_void in ended),
    )
