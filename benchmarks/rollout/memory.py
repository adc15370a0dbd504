"""How much memory the pool takes for long rollouts: peak growth, and bytes for each token held.

Rollouts of about 20,000 tokens, half sampled and half observed, by a scripted engine: no model is
in the way of what the project itself keeps. 16 groups of 8 a step. Before an update the pool holds
(staleness + 1) steps' worth of groups, and never more: playing four times as many must not take
more memory. Run with 2 and with 8 steps, each in a process of its own.

    python -m benchmarks.rollout.memory --steps 8 --staleness 1
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import psutil

from benchmarks.rollout.actors import make_episode, make_speaker
from benchmarks.rollout.figures import begin, tell
from benchmarks.rollout.workload import TOOL, build_words, end_id
from toolorchestra.engine.base import Completion, Request
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.pool import Pool
from toolorchestra.tool.base import CallContext
from toolorchestra.types import Episode, Json, ToolResult, Turn

NUM_GROUPS, GROUP_SIZE = 16, 8
NUM_CALLS = 10
NUM_WORDS = 925
"""Of a message and of a result: with ten calls, about 20,000 tokens a rollout."""
WORDS = (" the", " is", " it", " on", " who", " for", " function", " call", " tool", " with")
"""A token each, with ids above 256: Python shares smaller numbers, which would hide memory."""


def prose(rng: Random) -> str:
    """Words in an order of their own."""
    return "".join(rng.choices(WORDS, k=NUM_WORDS))


def write(episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
    """The next message of a long rollout."""
    call = f'<tool_call>\n{{"name": "{TOOL.name}", "arguments": {{"query": "0"}}}}\n</tool_call>'
    return prose(rng) + (call if len(turns) < NUM_CALLS else "")


class LongEngine:
    """The scripted engine; each log-probability is a float of its own, as a model's is."""

    def __init__(self) -> None:
        self._engine, self.version = ScriptedEngine(write, build_words(), end_id=end_id()), 0

    def rollout(self, session: str) -> AbstractAsyncContextManager[None]:
        """Holds nothing."""
        return self._engine.rollout(session)

    async def generate(self, request: Request) -> Completion:
        """Writes one message."""
        completion = await self._engine.generate(request)
        rng = Random(request.seed)
        logprobs = tuple(-rng.random() for _ in completion.ids)
        return replace(completion, logprobs=logprobs, version=self.version)


class Encyclopedia:
    """Answers at once, at length, and never twice the same."""

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Answers one call."""
        content = prose(Random(f"{context.session}/{context.call_number}"))
        return ToolResult(call_id=context.call_id, name=TOOL.name, content=content, status="ok")

    async def close_session(self, session: str) -> None:
        """Holds nothing."""

    async def close(self) -> None:
        """Holds nothing."""


@dataclass(frozen=True)
class Kept:
    """A played group that every filter would keep."""

    played: Played
    is_kept: bool = True


def peak_bytes() -> int:
    """Most memory that this process ever had resident (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def play_steps(stage: Stage, *, staleness: int, groups: int, steps: int) -> tuple[int, int]:
    """Takes steps as a trainer does; returns the rollouts it took, and their tokens."""
    engine = LongEngine()
    pool = Pool(
        sample_episode=lambda index: make_episode(index * GROUP_SIZE),
        play=lambda item: stage.play_group(engine, item, group_size=GROUP_SIZE, is_greedy=False),
        settle=Kept,
        groups_per_step=groups,
        max_staleness=staleness,
        max_replacements=0,
    )
    num_rollouts = num_tokens = 0
    for version in range(steps):
        engine.version = version
        batch = stage.run(pool.take(version))
        rollouts = [one for group in batch.groups for one in group.played.rollouts]
        ends = {rollout.status for rollout in rollouts}
        assert ends == {"answered"}, f"not as scripted: {ends}"
        num_rollouts += len(rollouts)
        num_tokens += sum(len(row.ids) for rollout in rollouts for row in rollout.rows)
        del batch, rollouts  # trained on, and forgotten
    stage.run(pool.close())
    return num_rollouts, num_tokens


def main() -> None:
    """Plays the steps, and sees how much memory that took at most."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--staleness", type=int, choices=(0, 1), default=0)
    parser.add_argument("--groups", type=int, default=NUM_GROUPS, help="groups of 8 a step")
    parser.add_argument("--threads", type=int, default=1, help="torch's")
    options = begin(parser)
    in_flight = (options.staleness + 1) * options.groups * GROUP_SIZE
    stage = Stage(
        tools={TOOL.name: Encyclopedia()},
        speaker=make_speaker(),
        config=RolloutConfig(max_concurrent=in_flight),
        max_new_tokens=2048,
        max_context=24_000,
    )
    gc.collect()
    start = psutil.Process().memory_info().rss
    num_rollouts, num_tokens = play_steps(
        stage, staleness=options.staleness, groups=options.groups, steps=options.steps
    )
    stage.close()
    growth = peak_bytes() - start
    tokens_each = num_tokens / num_rollouts
    tell(
        rows=num_rollouts,
        tokens_a_rollout=tokens_each,
        in_flight=in_flight,
        growth_mib=growth / 2**20,
        bytes_a_token=growth / (in_flight * tokens_each),
    )


if __name__ == "__main__":
    main()
