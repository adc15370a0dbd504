"""One rollout: reason, call tools, observe, until the policy answers (paper, section 2.2).

Tokens go in and out of the engine as they were sampled; text is decoded only to be read. What the
policy reads, and when it speaks, is the conversation's to say; whether that was its answer, the
user's.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolorchestra.chat.rows import RowBuilder
from toolorchestra.engine.base import Completion, Engine, EngineFault, Request
from toolorchestra.reward.measures import RUN_KINDS, is_executed
from toolorchestra.rollout.bill import PolicyBill
from toolorchestra.rollout.execute import execute
from toolorchestra.rollout.heard import Heard, hear
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.tool.base import Tool
from toolorchestra.types import (
    Episode,
    LedgerEntry,
    Rollout,
    RolloutStatus,
    ToolResult,
    Turn,
)
from toolorchestra.user.nobody import NOBODY
from toolorchestra.user.protocol import User


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What bounds a rollout; `temperature` 0 is greedy, `max_cost_usd` None no bound."""

    max_turns: int
    max_new_tokens: int
    max_context: int
    temperature: float
    tool_timeout_s: float
    rollout_timeout_s: float
    max_cost_usd: float | None = None


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
    user: User = NOBODY,
) -> Rollout:
    """Plays one episode once. Never raises for the policy's or a provider's faults.

    However it ends, every tool is told to release what it holds for this rollout, those too that
    an offered tool uses.
    One that misses its deadline is void: how long it queued says nothing of the policy.
    """
    start_s = time.perf_counter()
    play = _Play(
        episode, sample, engine=engine, speaker=speaker, tools=tools, limits=limits, user=user
    )
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
        play.ledger.extend(play.bill.lost(len(play.turns), error.usage))
    finally:
        await asyncio.gather(*(tool.close_session(play.session) for tool in tools.values()))
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
        user: User,
    ) -> None:
        self.session = f"{episode.id}/{sample}"
        self.turns: list[Turn] = []
        self.ledger: list[LedgerEntry] = []
        self.answer: str | None = None
        self.fault = ""
        self._episode, self._sample = episode, sample
        self._engine, self._speaker, self._tools, self._limits = engine, speaker, tools, limits
        self._user = user
        self._counts: Counter[str] = Counter()
        self._conversation = speaker.conversation()
        self.rows = RowBuilder(self.session)
        self.rows.new_row(self._conversation.prompt(episode, (), is_ended=True).ids)
        self.bill = PolicyBill(episode)

    async def run(self) -> RolloutStatus:
        """Turns until something ends the rollout."""
        for index in range(self._limits.max_turns):
            prompt_ids = tuple(self.rows.ids)
            room = self._limits.max_context - max(len(prompt_ids), self.bill.num_held)
            if room < 1:  # the very first prompt is too long, or what an API has counted since
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
            status = await self._take_turn(index, prompt_ids, completion)
            if status is not None:
                return status
        return "max_turns"

    async def _take_turn(
        self, index: int, prompt_ids: tuple[int, ...], completion: Completion
    ) -> RolloutStatus | None:
        first_id = sum(len(turn.calls) for turn in self.turns)
        heard = hear(completion, self._speaker, first_id=first_id)
        bill = self.bill.entry(index, prompt_ids, completion)
        self.ledger.append(bill)
        accepted = self._conversation.accept(self._episode, self.turns, heard.parsed)
        parsed = replace(heard.parsed, errors=heard.parsed.errors + accepted.errors)
        ran = await execute(
            accepted.calls,
            episode=self._episode,
            tools=self._tools,
            counts=self._counts,
            session=self.session,
            turns=self.turns,
            timeout_s=self._limits.tool_timeout_s,
        )
        results = (*accepted.refused, *ran)
        self._record(completion, replace(heard, parsed=parsed), results, bill)
        if completion.finish_reason != "stop" and self._conversation.is_over_when_cut:
            num_held = max(len(self.rows), self.bill.num_held)
            is_full = completion.is_context_full or num_held >= self._limits.max_context
            return "context_full" if is_full else "truncated"
        faults = [result for result in results if result.status == "provider_error"]
        if faults:
            self.fault = f"{faults[0].name}: {faults[0].content}"
            return "void"
        said = self._conversation.answer(self._episode, self.turns, parsed)
        if said is not None and (status := await self._hear_user(said)) is not None:
            return status
        limit_usd = self._limits.max_cost_usd
        spent_usd = sum(entry.cost_usd for entry in self.ledger if entry.kind in RUN_KINDS)
        if limit_usd is not None and spent_usd > limit_usd:
            return "over_budget"
        return self._go_on(heard.is_ended)

    async def _hear_user(self, said: str) -> RolloutStatus | None:
        """What the user makes of the last message: an answer, where there is no more to say."""
        reply = await self._user.reply(self._episode, self.turns, session=self.session)
        self.ledger.extend(reply.bills)
        self.turns[-1] = replace(self.turns[-1], user=reply.message)
        if reply.fault:
            self.fault = f"user: {reply.fault}"
            return "void"
        if not reply.is_last:
            return None
        self.answer = said
        return "answered"

    def _go_on(self, is_ended: bool) -> RolloutStatus | None:
        """Readies the next prompt, unless it and one more token exceed the context."""
        prompt = self._conversation.prompt(self._episode, self.turns, is_ended=is_ended)
        length = len(prompt.ids) + (0 if prompt.is_new else len(self.rows))
        if length >= self._limits.max_context:
            return "context_full"
        (self.rows.new_row if prompt.is_new else self.rows.append_context)(prompt.ids)
        return None

    def _record(
        self,
        completion: Completion,
        heard: Heard,
        results: tuple[ToolResult, ...],
        bill: LedgerEntry,
    ) -> None:
        self.turns.append(
            Turn(
                prompt_tokens=self.bill.num_prompt,
                completion_ids=completion.ids,
                logprobs=completion.logprobs,
                version=completion.version,
                finish_reason=completion.finish_reason,
                text=heard.text,
                thinking=heard.parsed.thinking,
                calls=heard.parsed.calls,
                errors=heard.parsed.errors,
                results=results,
                policy_cost_usd=bill.cost_usd,
                is_native=completion.reply is not None,
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
                turn=bill.turn,
            )
            for result in results
            if is_executed(result)
        )
