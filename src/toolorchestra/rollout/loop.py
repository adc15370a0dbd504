"""One rollout: reason, call tools, observe, until the policy answers (paper, section 2.2).

Tokens go in and out of the engine as they were sampled; text is decoded only to be read.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from toolorchestra.chat.messages import answer_of, episode_messages, tool_schemas
from toolorchestra.chat.parse import ParsedMessage, parse_message
from toolorchestra.chat.render import Renderer
from toolorchestra.chat.rows import RowBuilder
from toolorchestra.engine.base import Completion, Engine, EngineFault, Request
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.reward.measures import is_executed
from toolorchestra.rollout.execute import execute
from toolorchestra.tool.base import Tool
from toolorchestra.types import (
    CallError,
    Episode,
    LedgerEntry,
    Rollout,
    RolloutStatus,
    ToolResult,
    Turn,
    Usage,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What bounds a rollout; `temperature` 0 is greedy."""

    max_turns: int
    max_new_tokens: int
    max_context: int
    temperature: float
    tool_timeout_s: float
    rollout_timeout_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Speaker:
    """How the policy is spoken to: its tokenizer, its template, its system prompt."""

    tokenizer: PreTrainedTokenizerBase
    renderer: Renderer
    system_prompt: str
    tool_style: str


def turn_seed(episode: Episode, sample: int, turn: int) -> int:
    """Seed of one message: 64 bits that depend on the episode, the sample and the turn alone."""
    key = f"{episode.seed}/{episode.id}/{sample}/{turn}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")


async def run_rollout(
    episode: Episode,
    sample: int,
    *,
    engine: Engine,
    speaker: Speaker,
    tools: Mapping[str, Tool],
    limits: Limits,
) -> Rollout:
    """Plays one episode once. Never raises for the policy's or a provider's faults.

    However it ends, every tool of the episode is told to release what it holds for this rollout.
    One that misses its deadline is void: how long it queued says nothing of the policy.
    """
    start_s = time.perf_counter()
    play = _Play(episode, sample, engine=engine, speaker=speaker, tools=tools, limits=limits)
    try:
        async with (
            asyncio.timeout(limits.rollout_timeout_s) as deadline,
            engine.rollout(play.session),
        ):
            status = await play.run()
    except TimeoutError:
        if not deadline.expired():
            raise
        status, play.fault = "void", f"not done within {limits.rollout_timeout_s:g} s"
    except EngineFault as error:
        status, play.fault = "void", f"engine: {error}"
    finally:
        await asyncio.gather(*(tools[t.name].close_session(play.session) for t in episode.tools))
    return Rollout(
        episode_id=episode.id,
        sample=sample,
        status=status,
        turns=tuple(play.turns),
        rows=play.rows.rows(),
        answer=play.answer,
        ledger=tuple(play.ledger),
        fault=play.fault,
        wall_s=time.perf_counter() - start_s,
    )


class _Play:
    """The state of one rollout in flight."""

    def __init__(
        self,
        episode: Episode,
        sample: int,
        *,
        engine: Engine,
        speaker: Speaker,
        tools: Mapping[str, Tool],
        limits: Limits,
    ) -> None:
        self.session = f"{episode.id}/{sample}"
        self.turns: list[Turn] = []
        self.ledger: list[LedgerEntry] = []
        self.answer: str | None = None
        self.fault = ""
        self._episode, self._sample = episode, sample
        self._engine, self._speaker, self._tools, self._limits = engine, speaker, tools, limits
        self._counts: Counter[str] = Counter()
        messages = episode_messages(episode, speaker.system_prompt)
        schemas = tool_schemas(episode.tools, style=speaker.tool_style)
        self.rows = RowBuilder(self.session)
        self.rows.new_row(speaker.renderer.prompt_ids(messages, schemas))

    async def run(self) -> RolloutStatus:
        """Turns until something ends the rollout."""
        for index in range(self._limits.max_turns):
            prompt_ids = tuple(self.rows.ids)
            room = self._limits.max_context - len(prompt_ids)
            if room < 1:  # the very first prompt is too long
                return "context_full"
            completion = await self._engine.generate(
                Request(
                    prompt_ids=prompt_ids,
                    session=self.session,
                    seed=turn_seed(self._episode, self._sample, index),
                    max_tokens=min(self._limits.max_new_tokens, room),
                    temperature=self._limits.temperature,
                    episode=self._episode,
                    turns=self.turns,
                )
            )
            self.rows.append_sampled(completion.ids, completion.logprobs, completion.version)
            status = await self._take_turn(index, len(prompt_ids), completion)
            if status is not None:
                return status
        return "max_turns"

    async def _take_turn(
        self, index: int, num_prompt: int, completion: Completion
    ) -> RolloutStatus | None:
        is_ended = completion.ids[-1] == self._speaker.renderer.end_of_turn_id
        text = _decode(self._speaker, completion.ids[:-1] if is_ended else completion.ids)
        parsed = parse_message(
            text,
            finish_reason=completion.finish_reason,
            first_id=sum(len(turn.calls) for turn in self.turns),
            is_thinking_open=self._speaker.renderer.opens_thinking,
        )
        policy_cost = self._bill_policy(index, num_prompt, len(completion.ids))
        results = await execute(
            parsed.calls,
            episode=self._episode,
            tools=self._tools,
            counts=self._counts,
            session=self.session,
            turns=self.turns,
            timeout_s=self._limits.tool_timeout_s,
        )
        self._record(index, num_prompt, completion, text, parsed, results, policy_cost)
        if completion.finish_reason == "length":
            is_full = len(self.rows) >= self._limits.max_context
            return "context_full" if is_full else "truncated"
        faults = [result for result in results if result.status == "provider_error"]
        if faults:
            self.fault = f"{faults[0].name}: {faults[0].content}"
            return "void"
        if not parsed.calls and not parsed.errors:
            self.answer = answer_of(parsed.content)
            return "answered"
        return self._show([*results, *map(_as_result, parsed.errors)], is_ended)

    def _show(self, results: list[ToolResult], is_ended: bool) -> RolloutStatus | None:
        """Appends results, unless they and one more token exceed the context."""
        ids = self._speaker.renderer.result_ids(results, is_ended=is_ended)
        if len(self.rows) + len(ids) >= self._limits.max_context:
            return "context_full"
        self.rows.append_context(ids)
        return None

    def _bill_policy(self, index: int, num_prompt: int, num_sampled: int) -> float:
        cached = self.turns[-1].prompt_tokens if self.turns else 0
        usage = Usage(
            input_tokens=num_prompt, output_tokens=num_sampled, cached_input_tokens=cached
        )
        cost = cost_usd(usage, self._episode.policy_price)
        self.ledger.append(
            LedgerEntry(
                kind="policy",
                name="policy",
                priced_as=self._episode.policy_priced_as,
                usage=usage,
                cost_usd=cost,
                latency_s=0.0,
                turn=index,
            )
        )
        return cost

    def _record(
        self,
        index: int,
        num_prompt: int,
        completion: Completion,
        text: str,
        parsed: ParsedMessage,
        results: tuple[ToolResult, ...],
        policy_cost: float,
    ) -> None:
        self.turns.append(
            Turn(
                prompt_tokens=num_prompt,
                completion_ids=completion.ids,
                logprobs=completion.logprobs,
                version=completion.version,
                finish_reason=completion.finish_reason,
                text=text,
                thinking=parsed.thinking,
                calls=parsed.calls,
                errors=parsed.errors,
                results=results,
                policy_cost_usd=policy_cost,
            )
        )
        priced_as = {tool.name: tool.priced_as for tool in self._episode.tools}
        self.ledger.extend(
            LedgerEntry(
                kind="tool",
                name=result.name,
                priced_as=priced_as[result.name],
                usage=result.usage,
                cost_usd=result.cost_usd,
                latency_s=result.latency_s,
                turn=index,
            )
            for result in results
            if is_executed(result)
        )


def _decode(speaker: Speaker, ids: Sequence[int]) -> str:
    """Text of ids as it is; what is no UTF-8 becomes U+FFFD."""
    text = speaker.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)
    assert isinstance(text, str)
    return text


def _as_result(error: CallError) -> ToolResult:
    """Output that is no call, as a result that tells the policy what was wrong."""
    return ToolResult(call_id="", name="", content=f"error: {error.message}", status="policy_error")
