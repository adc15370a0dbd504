"""The judge that asks nobody: the matcher of the task's `answer_kind` decides."""

from __future__ import annotations

import asyncio

from toolorchestra.judge.base import Judged
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.types import Task

SLOW_KINDS = frozenset({"math"})
"""Kinds whose matcher may take seconds: a thread waits, so that no other rollout has to."""


class MatchJudge:
    """Judges by matchers alone."""

    async def judge(self, task: Task, answer: str | None, *, turn: int) -> Judged:
        """Judges one answer; see `Judge`."""
        if task.answer_kind in SLOW_KINDS:
            return Judged(verdict=await asyncio.to_thread(judge_answer, task, answer))
        return Judged(verdict=judge_answer(task, answer))

    async def close(self) -> None:
        """Holds nothing."""


MATCHER = MatchJudge()
"""It has no state: one serves all."""
