"""The pool: keeps groups in flight as far ahead as staleness allows, and hands out full steps.

While a step waits for its groups, (max_staleness + 1) steps' worth of them are in flight or ready;
while the weights are updated, max_staleness steps' worth. This is AReaL's rule
(arXiv 2505.24298, section 5.1). With 0 nothing is sampled ahead, and training is synchronous.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from toolorchestra.rollout.group import Played
from toolorchestra.types import Episode


class Settled(Protocol):
    """A played group after scoring and filtering."""

    @property
    def is_kept(self) -> bool:
        """Whether anything of it is trained on."""
        ...


S = TypeVar("S", bound=Settled)


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch(Generic[S]):
    """The groups of one step, in the order their episodes were drawn."""

    groups: tuple[S, ...]
    """Kept ones, and those that filters dropped since the last step."""
    num_replaced: int
    """Dropped groups that others were played for."""
    num_stale: int
    """Groups given up since the last step, as weights older than allowed had begun them."""
    num_ahead: int
    """Groups in flight or ready for later steps."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolState:
    """What a checkpoint keeps: in-flight groups are played anew after it."""

    next_episode: int
    pending: tuple[int, ...]
    """Episodes in flight, or played and not yet handed out."""


@dataclass(kw_only=True, eq=False)
class _Flight:
    index: int
    version: int
    """Weight version that began it."""
    task: asyncio.Task[None]


class Pool(Generic[S]):
    """Groups in flight. All methods belong to one event loop."""

    def __init__(
        self,
        *,
        sample_episode: Callable[[int], Episode],
        play: Callable[[Episode], Awaitable[Played]],
        settle: Callable[[Played], S],
        groups_per_step: int,
        max_staleness: int,
        max_replacements: int,
    ) -> None:
        """Starts nothing yet.

        Args:
            sample_episode: Draws the episode of a number.
            play: Plays one group.
            settle: Scores and filters it.
            groups_per_step: Groups that a step trains on.
            max_staleness: Steps that a group may be behind the weights it trains.
            max_replacements: Dropped groups that are replaced in one step; beyond them the step
                trains on fewer, so that a policy which has nothing left to learn ends too.
        """
        self._sample_episode, self._play, self._settle = sample_episode, play, settle
        self._groups_per_step, self._max_staleness = groups_per_step, max_staleness
        self._max_replacements = max_replacements
        self._next = 0
        self._again: list[int] = []
        self._flights: dict[int, _Flight] = {}
        self._ready: dict[int, tuple[int, S]] = {}
        """Kept groups by episode number, with the version that began them."""
        self._dropped: dict[int, S] = {}
        self._num_stale = 0
        self._version = 0
        self._is_taking = False
        self._fault: BaseException | None = None
        self._changed = asyncio.Event()

    async def take(self, version: int) -> Batch[S]:
        """Waits for the groups of the next step; goes on sampling ahead after it returns.

        Args:
            version: Of the weights that the step will train.

        Raises:
            Exception: What a rollout raised: a programming error, or a lost engine.
        """
        self._version = version
        self._give_up_stale()
        self._is_taking = True
        try:
            self._fill()
            while not self._is_full() and self._fault is None:
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._is_taking = False
        if self._fault is not None:
            raise self._fault
        batch = self._batch()
        self._fill()
        return batch

    async def restore(self, state: PoolState) -> None:
        """Goes on from a checkpoint; before the first `take`."""
        self._next, self._again = state.next_episode, list(state.pending)

    async def state(self) -> PoolState:
        """What a checkpoint must keep; taken between steps."""
        pending = sorted({*self._flights, *self._ready, *self._again})
        return PoolState(next_episode=self._next, pending=tuple(pending))

    async def close(self) -> None:
        """Ends what is in flight."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _num_wanted(self) -> int:
        """Groups that this step can still train on: dropped ones beyond the bound leave gaps."""
        gaps = max(0, len(self._dropped) - self._max_replacements)
        return self._groups_per_step - gaps

    def _is_full(self) -> bool:
        return len(self._ready) >= self._num_wanted

    def _fill(self) -> None:
        ahead = self._max_staleness * self._groups_per_step
        limit = ahead + (self._num_wanted if self._is_taking else 0)
        while self._fault is None and len(self._flights) + len(self._ready) < limit:
            self._start(self._again.pop(0) if self._again else self._draw())

    def _draw(self) -> int:
        self._next += 1
        return self._next - 1

    def _start(self, index: int) -> None:
        task = asyncio.create_task(self._run(index, self._version))
        self._flights[index] = _Flight(index=index, version=self._version, task=task)

    async def _run(self, index: int, version: int) -> None:
        try:
            settled = self._settle(await self._play(self._sample_episode(index)))
        except Exception as error:
            self._fault = error
        else:
            if settled.is_kept:
                self._ready[index] = (version, settled)
            else:
                self._dropped[index] = settled
        finally:
            self._flights.pop(index, None)
            self._changed.set()
        self._fill()

    def _give_up_stale(self) -> None:
        oldest = self._version - self._max_staleness
        for flight in [item for item in self._flights.values() if item.version < oldest]:
            flight.task.cancel()
            del self._flights[flight.index]
            self._num_stale += 1
        for index in [i for i, (version, _) in self._ready.items() if version < oldest]:
            del self._ready[index]
            self._num_stale += 1

    def _batch(self) -> Batch[S]:
        oldest = sorted(self._ready)[: self._groups_per_step]
        groups = self._dropped | {index: self._ready.pop(index)[1] for index in oldest}
        batch = Batch(
            groups=tuple(groups[index] for index in sorted(groups)),
            num_replaced=min(len(self._dropped), self._max_replacements),
            num_stale=self._num_stale,
            num_ahead=len(self._flights) + len(self._ready),
        )
        self._dropped, self._num_stale = {}, 0
        return batch
