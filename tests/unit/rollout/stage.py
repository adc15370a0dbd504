"""A loop to test: policies that say given texts, tools that do as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from tests.unit.chat.qwen_tokenizer import qwen_tokenizer

from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.engine.base import Engine
from toolorchestra.engine.policies import call_text
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.rollout.loop import Limits, run_rollout
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.tool.base import CallContext
from toolorchestra.types import (
    Episode,
    Json,
    OfferedTool,
    Preference,
    Price,
    ResultStatus,
    Rollout,
    Task,
    ToolResult,
    Turn,
    Usage,
)

LIMITS = Limits(
    max_turns=6,
    max_new_tokens=400,
    max_context=8000,
    temperature=1.0,
    tool_timeout_s=60.0,
    rollout_timeout_s=120.0,
)
PARAMETERS: Json = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": [],
    "additionalProperties": False,
}
PRICE = Price(usd_per_input_mtok=2.0, usd_per_call=0.01, source="made up", date="2026-01-01")
POLICY_PRICE = Price(
    usd_per_input_mtok=1.0,
    usd_per_cached_input_mtok=0.1,
    usd_per_output_mtok=4.0,
    source="made up",
    date="2026-01-01",
)


@cache
def speaker() -> Speaker:
    tokenizer = qwen_tokenizer()
    return Speaker(
        tokenizer=tokenizer,
        renderer=Renderer(tokenizer, template=builtin_template(), is_thinking=False),
        system_prompt="Solve the task.",
        tool_style="compact",
    )


class FakeTool:
    """Answers "answer: 4" after a pause, and notes what happens to it."""

    def __init__(
        self,
        name: str = "ask",
        *,
        pause_s: float = 0.0,
        content: str = "answer: 4",
        status: ResultStatus = "ok",
        fault: Exception | None = None,
    ) -> None:
        self.name, self.pause_s, self.content, self.status = name, pause_s, content, status
        self.fault = fault
        self.contexts: list[CallContext] = []
        self.arguments: list[Json] = []
        self.closed: list[str] = []
        self.num_running = self.most_running = self.num_cancelled = 0

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        self.contexts.append(context)
        self.arguments.append(arguments)
        self.num_running += 1
        self.most_running = max(self.most_running, self.num_running)
        try:
            await asyncio.sleep(self.pause_s)
        except asyncio.CancelledError:
            self.num_cancelled += 1
            raise
        finally:
            self.num_running -= 1
        if self.fault is not None:
            raise self.fault
        return ToolResult(
            call_id=context.call_id,
            name=self.name,
            content=self.content,
            status=self.status,
            usage=Usage(input_tokens=100),
            latency_s=3.0,
        )

    async def close_session(self, session: str) -> None:
        self.closed.append(session)

    async def close(self) -> None:
        self.closed.append("all")


def offered(name: str = "ask") -> OfferedTool:
    return OfferedTool(
        name=name,
        shown_as=name,
        description="Answers.",
        parameters=PARAMETERS,
        priced_as=("model of " + name,),
        price=PRICE,
        call_cost_usd=0.0102,
        latency_s=3.0,
    )


def make_episode(*names: str, **changes: Any) -> Episode:
    episode = Episode(
        id="episode-0",
        seed=0,
        task=Task(id="task-0", skill="math", question="What is 2 + 2?", answer="4"),
        tools=tuple(offered(name) for name in names or ("ask",)),
        pricing="official",
        policy_priced_as=("policy",),
        policy_price=POLICY_PRICE,
        preference=Preference(kind="test", instruction="", outcome=1.0, cost=0.0, latency=0.0),
        is_solvable=True,
    )
    return replace(episode, **changes)


def says(*texts: str) -> Callable[[Episode, Sequence[Turn], Random], str]:
    """A policy whose turn number i says text number i, and goes on with the last."""
    return lambda episode, turns, rng: texts[min(len(turns), len(texts) - 1)]


def engine_of(*texts: str) -> ScriptedEngine:
    end_id = speaker().renderer.end_of_turn_id
    return ScriptedEngine(says(*texts), qwen_tokenizer(), end_id=end_id)


async def play(
    *texts: str,
    tools: Sequence[FakeTool] = (),
    engine: Engine | None = None,
    sample: int = 0,
    **limits: Any,
) -> Rollout:
    """Plays texts (by default one call of "ask", then an answer) in an episode of these tools."""
    tools = tools or (FakeTool(),)
    texts = texts or (call_text("ask"), "answer: 4")
    return await run_rollout(
        make_episode(*(tool.name for tool in tools)),
        sample,
        engine=engine or engine_of(*texts),
        speaker=speaker(),
        tools={tool.name: tool for tool in tools},
        limits=replace(LIMITS, **limits),
    )
