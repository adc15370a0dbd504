"""The judge that asks a model where the matcher finds no right answer."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.judge.base import Judged
from toolorchestra.judge.cache import JudgementCache, key_of
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.match import MATCHER
from toolorchestra.judge.prompt import SCHEMA, Case, Prompts, messages_of
from toolorchestra.judge.reply import Ruling, read_reply
from toolorchestra.judge.unscored import UnscoredWatch
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.provider.base import ChatModel, Sampling
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.reward.match_extract import without_thinking
from toolorchestra.types import LedgerEntry, Price, Task, Usage, Verdict

log = logging.getLogger(__name__)

JUDGE_PREFIX = "judge:"
"""What `Verdict.decided_by` begins with where a model judged, or failed to."""

_SHOWN_CHARS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome:
    """What asking came to: a ruling, or why there is none; and what there is to pay for."""

    ruling: Ruling | None
    reason: str = ""
    usage: Usage | None = None
    latency_s: float = 0.0


@dataclass(kw_only=True, eq=False)
class _Flight:
    """One question under way; whoever asks the same waits for it."""

    task: asyncio.Task[_Outcome]
    is_billed: bool = False


class LlmJudge:
    """Judges by matchers, then by a model. All methods belong to one event loop."""

    def __init__(self, config: JudgeConfig, *, model: ChatModel, price: Price) -> None:
        """Opens the cache.

        Args:
            config: Of kind "llm".
            model: Answers the judge's questions; whoever made it closes it.
            price: Of the model's tokens.

        Raises:
            ValueError: The cache cannot be used.
        """
        self._config, self._model, self._price = config, model, price
        self._prompts = Prompts(system=config.system, user=config.user)
        options = config.sampling
        self._sampling = Sampling(
            max_tokens=options.max_tokens,
            temperature=options.temperature,
            reasoning_effort=options.reasoning_effort,
            json_schema=SCHEMA if options.is_structured else None,
        )
        self._cache = JudgementCache(Path(config.cache) if config.cache else None)
        self._watch = UnscoredWatch(
            max_share=config.max_unscored_share, window=config.unscored_window
        )
        self._gate = asyncio.Semaphore(config.max_concurrent)
        self._flights: dict[str, _Flight] = {}
        self._num_judged = self._num_asked = self._num_unscored = 0
        self._cost_usd = 0.0

    async def judge(self, task: Task, answer: str | None, *, turn: int) -> Judged:
        """Judges one answer; see `Judge`.

        Raises:
            TooManyUnscored: The model fails too often.
        """
        matched = await MATCHER.judge(task, answer, turn=turn)
        given = without_thinking(answer or "")
        if not given or not self._asks(task.answer_kind, matched.verdict.is_solved):
            return matched
        num_words, limit = len(given.split()), self._config.max_words
        if limit and num_words > limit:
            reason = f"the answer has {num_words} words; judge.max_words={limit}"
            verdict = Verdict(is_solved=False, decided_by="max_words", reason=reason)
            return Judged(verdict=verdict)
        golds = (task.answer, *task.metadata.get("aliases", ()))
        return await self._ask(Case(question=task.question, golds=golds, given=given), turn)

    def _asks(self, kind: str, is_solved: bool | None) -> bool:
        when = self._config.asks.get(kind, "never")
        return is_solved is None and when != "never" or is_solved is False and when == "wrong"

    async def _ask(self, case: Case, turn: int) -> Judged:
        key = key_of(case, model=self._config.model, prompts=self._prompts, sampling=self._sampling)
        flight = self._flights.get(key)
        if flight is None:
            flight = _Flight(task=asyncio.create_task(self._find(key, case)))
            self._flights[key] = flight
            flight.task.add_done_callback(lambda _: self._flights.pop(key, None))
        # others may wait for it too: it goes on though this one gives up
        outcome = await asyncio.shield(flight.task)
        bill = None
        if outcome.usage is not None and not flight.is_billed:
            flight.is_billed = True
            bill = self._bill(outcome.usage, outcome.latency_s, turn)
        return Judged(verdict=self._verdict(outcome), bill=bill)

    async def _find(self, key: str, case: Case) -> _Outcome:
        known = await asyncio.to_thread(self._cache.get, key)
        if known is not None:
            return _Outcome(ruling=known)
        outcome = await self._complete(case)
        if outcome.ruling is not None:
            await asyncio.to_thread(self._cache.put, key, outcome.ruling, model=self._config.model)
        return outcome

    async def _complete(self, case: Case) -> _Outcome:
        messages, limit_s = messages_of(case, self._prompts), self._config.deadline_s
        async with self._gate:
            self._num_asked += 1
            try:
                async with asyncio.timeout(limit_s) as deadline:
                    reply = await self._model.complete(
                        messages, sampling=self._sampling, deadline_s=limit_s
                    )
            except ProviderFault as fault:
                # what failed may have been paid for too
                usage = fault.usage if fault.usage != Usage() else None
                return _Outcome(ruling=None, reason=f"{fault.kind}: {fault}", usage=usage)
            except TimeoutError:
                if not deadline.expired():
                    raise
                return _Outcome(ruling=None, reason=f"timeout: no reply within {limit_s:g} s")
        ruling, reason = None, "its reply was cut"
        if not reply.is_cut:
            ruling = read_reply(reply.text)
            reason = "" if ruling else f"its reply cannot be read: {reply.text[:_SHOWN_CHARS]!r}"
        return _Outcome(ruling=ruling, reason=reason, usage=reply.usage, latency_s=reply.latency_s)

    def _verdict(self, outcome: _Outcome) -> Verdict:
        ruling, decided_by = outcome.ruling, f"{JUDGE_PREFIX}{self._config.model}"
        self._num_judged += 1
        self._num_unscored += ruling is None
        self._watch.note(is_scored=ruling is not None, reason=outcome.reason)
        if ruling is None:
            return Verdict(is_solved=None, decided_by=decided_by, reason=outcome.reason)
        reason = ruling.reasoning
        if ruling.verdict == "not_attempted":
            reason = f"not attempted: {reason}"
        is_solved = ruling.verdict == "correct"
        return Verdict(is_solved=is_solved, decided_by=decided_by, reason=reason)

    def _bill(self, usage: Usage, latency_s: float, turn: int) -> LedgerEntry:
        cost = cost_usd(usage, self._price)
        self._cost_usd += cost
        return LedgerEntry(
            kind="judge",
            name=self._config.model,
            priced_as=(self._config.model,),
            usage=usage,
            cost_usd=cost,
            latency_s=latency_s,
            turn=turn,
        )

    async def close(self) -> None:
        """Gives up what is under way, closes the cache, and tells what judging came to."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cache.close()
        if self._num_judged:
            log.info(
                "%s judged %d answers, %d of them asked anew, %d without a verdict, for $%.4f",
                self._config.model,
                self._num_judged,
                self._num_asked,
                self._num_unscored,
                self._cost_usd,
            )
