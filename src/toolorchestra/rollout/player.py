"""Plays episodes with one engine: the loop, its tools and its limits, behind one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from toolorchestra.engine.base import Engine
from toolorchestra.judge.base import Judge
from toolorchestra.judge.match import MATCHER
from toolorchestra.provider.providers import Providers
from toolorchestra.rollout.background import Background
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.group import OnDone, Played, all_or_none, play_group
from toolorchestra.rollout.loop import Limits, run_rollout
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.rollout.spending import Spending
from toolorchestra.tool.base import Tool
from toolorchestra.types import Episode, LedgerEntry, Rollout
from toolorchestra.user.nobody import NOBODY
from toolorchestra.user.protocol import User

T = TypeVar("T")

PER_SLOT = 2
"""Rollouts under way for each of `rollout.max_concurrent`: half of them may wait for a judge."""


class Stage:
    """What all players of a run share: the event loop, the tools, the user, the judge, and how the
    policy is spoken to.

    Tools hold processes and locks that belong to one event loop, hence one for the whole run.
    """

    def __init__(
        self,
        *,
        tools: Mapping[str, Tool],
        speaker: Speaker,
        config: RolloutConfig,
        max_new_tokens: int,
        max_context: int,
        providers: Providers | None = None,
        expert_deadline_s: float | None = None,
        judge: Judge = MATCHER,
        user: User = NOBODY,
        spending: Spending | None = None,
    ) -> None:
        self.spending = spending or Spending()
        self._background = Background()
        self._gate = asyncio.Semaphore(config.max_concurrent)
        self._num_players = PER_SLOT * config.max_concurrent
        self._tools, self._speaker, self._config = tools, speaker, config
        self._providers, self._judge, self._user = providers, judge, user
        tool_s, rollout_s = config.timeouts_s(deadline_s=expert_deadline_s)
        self._limits = Limits(
            max_turns=config.max_turns,
            max_new_tokens=max_new_tokens,
            max_context=max_context,
            temperature=config.temperature,
            tool_timeout_s=tool_s,
            rollout_timeout_s=rollout_s,
            max_cost_usd=config.max_cost_usd,
        )

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Waits for a coroutine on the stage's event loop."""
        return self._background.run(coroutine)

    def play(
        self,
        engine: Engine,
        episodes: Sequence[Episode],
        *,
        group_size: int,
        is_greedy: bool,
        speaker: Speaker | None = None,
        on_done: OnDone = lambda rollout: None,
    ) -> list[Played]:
        """Plays every episode `group_size` times, and waits for all of them.

        Raises:
            BudgetSpent: The run may pay no more.
        """

        def done(rollout: Rollout) -> None:
            self.spending.check()
            on_done(rollout)

        return self.run(
            all_or_none(
                [
                    self.play_group(
                        engine,
                        item,
                        group_size=group_size,
                        is_greedy=is_greedy,
                        speaker=speaker,
                        on_done=done,
                    )
                    for item in episodes
                ]
            )
        )

    def play_each(
        self,
        engine: Engine,
        episodes: Iterable[tuple[Episode, int]],
        *,
        is_greedy: bool,
        speaker: Speaker | None = None,
        on_played: Callable[[Played], None],
    ) -> None:
        """Plays each episode once, as the sample of the number beside it, and keeps nothing.

        However many there are, no more are drawn from `episodes` than are under way. `on_played`
        gets each as soon as it has been judged, in the order in which they end.

        Raises:
            BudgetSpent: The run may pay no more; all that has ended was handed over.
        """
        left = iter(episodes)

        async def player() -> None:
            for episode, sample in left:
                self.spending.check()
                played = await self.play_group(
                    engine,
                    episode,
                    group_size=1,
                    is_greedy=is_greedy,
                    speaker=speaker,
                    first_sample=sample,
                )
                on_played(played)
                del played  # not kept while the next one is played

        self.run(all_or_none([player() for _ in range(self._num_players)]))

    async def play_group(
        self,
        engine: Engine,
        episode: Episode,
        *,
        group_size: int,
        is_greedy: bool,
        speaker: Speaker | None = None,
        on_done: OnDone = lambda rollout: None,
        first_sample: int = 0,
    ) -> Played:
        """Plays one episode `group_size` times; to be awaited on the stage's event loop.

        `speaker` speaks in place of the stage's own.
        At most `rollout.max_concurrent` rollouts of all groups are in flight at once.
        """
        limits = replace(self._limits, temperature=0.0) if is_greedy else self._limits

        opening = await self._user.opened(episode)
        self.spending.add(opening.bills)

        async def once(item: Episode, sample: int) -> Rollout:
            bills = opening.bills if sample == first_sample else ()  # it was paid for once
            if opening.fault:
                return _not_begun(item, sample, fault=opening.fault, bills=bills)
            rollout = await run_rollout(
                item,
                sample,
                engine=engine,
                speaker=speaker or self._speaker,
                tools=self._tools,
                limits=limits,
                user=self._user,
            )
            self.spending.add(rollout.ledger)
            return replace(rollout, ledger=(*bills, *rollout.ledger))

        played = await play_group(
            opening.episode,
            play=once,
            group_size=group_size,
            gate=self._gate,
            max_redispatch=self._config.max_redispatch,
            judge=self._judge,
            on_done=on_done,
            first_sample=first_sample,
        )
        for rollout in played.rollouts:
            self.spending.add(entry for entry in rollout.ledger if entry.kind == "judge")
        return played

    def close(self) -> None:
        """Ends the tools' processes, the judge and the event loop."""
        try:
            self.run(self._close_parts())
        finally:
            self._background.close()

    async def _close_parts(self) -> None:
        await asyncio.gather(*(tool.close() for tool in self._tools.values()), self._judge.close())
        if self._providers is not None:
            await self._providers.close()


def _not_begun(
    episode: Episode, sample: int, *, fault: str, bills: tuple[LedgerEntry, ...]
) -> Rollout:
    """The rollout of an episode whose user could not bring up the task."""
    return Rollout(
        episode_id=episode.id,
        sample=sample,
        status="void",
        turns=(),
        rows=(),
        answer=None,
        ledger=bills,
        fault=f"user: {fault}",
    )
