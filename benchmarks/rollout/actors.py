"""Our side of the workload: a policy that says the script, a tool that sleeps, a stage for both."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from benchmarks.rollout.workload import (
    GROUP_SIZE,
    MAX_LENGTH,
    NUM_CALLS,
    NUM_GROUPS,
    NUM_TOKENS,
    SCALE,
    SYSTEM_PROMPT,
    TOOL,
    build_words,
    call_of,
    latency_s,
    message_ids,
    question,
    result_text,
)
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.engine.base import Completion, Engine, Request
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.types import Episode, Json, Preference, Price, Rollout, Task, ToolResult

BATCH_WAIT_S = {"none": 60.0, "constant": 60.0, "heavy": 0.02}
"""How long the embedded engine holds waiting rollouts for those in a tool, by latency.

Tools that all take the same time bring everybody back together: the engine waits for all, which is
its default. Under a heavy tail it must not, or every turn takes as long as its slowest call: 20 ms
gathers those that come back together, and more gather by themselves while a wave is decoded.
"""


class ScriptedOver:
    """An engine that really samples, and then says the workload's message."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def version(self) -> int:
        """Weight version in use."""
        return self._engine.version

    @version.setter
    def version(self, value: int) -> None:
        raise AttributeError("only the engine beneath knows its version")

    def rollout(self, session: str) -> AbstractAsyncContextManager[None]:
        """What the engine keeps for one rollout."""
        return self._engine.rollout(session)

    async def generate(self, request: Request) -> Completion:
        """Samples one message and writes the script over it.

        The engine then meets other tokens than those it sampled, and computes them anew: a cost
        that a real run does not have.
        """
        sampled = await self._engine.generate(replace(request, max_tokens=NUM_TOKENS))
        assert len(sampled.ids) == NUM_TOKENS, f"{request.session}: {len(sampled.ids)} sampled"
        episode_id, _, sample = request.session.rpartition("/")
        ids = message_ids(int(episode_id) + int(sample), len(request.turns))
        return replace(sampled, ids=tuple(ids), finish_reason="stop")


class Sleeper:
    """The workload's tool."""

    def __init__(self, kind: str, *, scale: float = SCALE) -> None:
        """Takes the workload's latencies of a kind, see `latency_s`."""
        self.kind, self._scale = kind, scale
        self.num_calls = 0

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Answers one call after its latency."""
        row, turn = call_of(arguments)
        self.num_calls += 1
        await asyncio.sleep(latency_s(self.kind, row, turn, scale=self._scale))
        content = result_text(row, turn)
        return ToolResult(call_id=context.call_id, name=TOOL.name, content=content, status="ok")

    async def close_session(self, session: str) -> None:
        """Holds nothing."""

    async def close(self) -> None:
        """Holds nothing."""


def make_speaker() -> Speaker:
    """The workload's tokenizer with the project's chat template."""
    words = build_words()
    return Speaker(
        tokenizer=words,
        renderer=Renderer(words, template=builtin_template()),
        system_prompt=SYSTEM_PROMPT,
        tool_style="full",
    )


def make_episode(first_row: int) -> Episode:
    """The episode whose rollouts are the rows from `first_row` on."""
    return Episode(
        id=str(first_row),
        seed=first_row,
        task=Task(id=str(first_row), skill="none", question=question(first_row), answer="done"),
        tools=(TOOL,),
        pricing="none",
        policy_priced_as=("policy",),
        policy_price=Price(source="made up", date="2026-01-01"),
        preference=Preference(kind="none", instruction="", outcome=1.0, cost=0.0, latency=0.0),
        is_solvable=True,
    )


def make_stage(tool: Tool, *, max_concurrent: int) -> Stage:
    """The project's own player of rollouts."""
    return Stage(
        tools={TOOL.name: tool},
        speaker=make_speaker(),
        config=RolloutConfig(max_turns=NUM_CALLS + 2, max_concurrent=max_concurrent),
        max_new_tokens=NUM_TOKENS,
        max_context=MAX_LENGTH,
    )


def play(
    stage: Stage,
    engine: Engine,
    *,
    num_groups: int = NUM_GROUPS,
    group_size: int = GROUP_SIZE,
    first_row: int = 0,
) -> list[Rollout]:
    """Plays the workload's rows from `first_row` on, and checks that they went as scripted."""
    episodes = [make_episode(first_row + group * group_size) for group in range(num_groups)]
    groups = stage.play(ScriptedOver(engine), episodes, group_size=group_size, is_greedy=False)
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    check(rollouts)
    return rollouts


def check(rollouts: Sequence[Rollout]) -> None:
    """Sees to it that every rollout made its calls and answered.

    Raises:
        RuntimeError: If one did not.
    """
    for rollout in rollouts:
        if rollout.status != "answered" or len(rollout.turns) != NUM_CALLS + 1:
            raise RuntimeError(
                f"{rollout.episode_id}/{rollout.sample} ended as {rollout.status} after "
                f"{len(rollout.turns)} turns: {rollout.fault}"
            )


def counts(rollouts: Sequence[Rollout]) -> Mapping[str, int]:
    """What was played: the peer's must be the same."""
    turns = [turn for rollout in rollouts for turn in rollout.turns]
    return {
        "rows": len(rollouts),
        "calls": sum(len(turn.calls) for turn in turns),
        "sampled": sum(len(turn.completion_ids) for turn in turns),
        "tokens": sum(len(row.ids) for rollout in rollouts for row in rollout.rows),
    }
