"""Plays episodes with one engine: the loop, its tools and its limits, behind one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from toolorchestra.engine.base import Engine
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.group import Played, play_groups
from toolorchestra.rollout.loop import Limits, Speaker, run_rollout
from toolorchestra.tool.base import Tool
from toolorchestra.types import Episode, Rollout

OnDone = Callable[[Rollout], None]


class Stage:
    """What all players of a run share: the event loop, the tools, and how the policy is spoken to.

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
    ) -> None:
        self._runner = asyncio.Runner()
        self._tools, self._speaker, self._config = tools, speaker, config
        self._limits = Limits(
            max_turns=config.max_turns,
            max_new_tokens=max_new_tokens,
            max_context=max_context,
            temperature=config.temperature,
            tool_timeout_s=config.tool_timeout_s,
            rollout_timeout_s=config.rollout_timeout_s,
        )

    def play(
        self,
        engine: Engine,
        episodes: Sequence[Episode],
        *,
        group_size: int,
        is_greedy: bool,
        on_done: OnDone = lambda rollout: None,
    ) -> list[Played]:
        """Plays every episode `group_size` times, and waits for all of them."""
        limits = replace(self._limits, temperature=0.0) if is_greedy else self._limits

        async def once(episode: Episode, sample: int) -> Rollout:
            return await run_rollout(
                episode,
                sample,
                engine=engine,
                speaker=self._speaker,
                tools=self._tools,
                limits=limits,
            )

        return self._runner.run(
            play_groups(
                episodes,
                play=once,
                group_size=group_size,
                max_concurrent=self._config.max_concurrent,
                max_redispatch=self._config.max_redispatch,
                on_done=on_done,
            )
        )

    def close(self) -> None:
        """Ends the tools' processes and the event loop."""
        try:
            self._runner.run(self._close_tools())
        finally:
            self._runner.close()

    async def _close_tools(self) -> None:
        await asyncio.gather(*(tool.close() for tool in self._tools.values()))
