"""Stand-ins for judging models, and judges that ask them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import yaml

from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.llm import LlmJudge
from toolorchestra.provider.base import Attempt, Reply
from toolorchestra.types import Price, Task, Usage

PRICE = Price(usd_per_input_mtok=1.0, usd_per_output_mtok=10.0, source="x", date="2026-01-01")
USAGE = Usage(input_tokens=1000, output_tokens=100)
SHIPPED = yaml.safe_load((Path(__file__).parents[3] / "conf/judge/llm.yaml").read_text())
RIGHT, WRONG = (json.dumps({"reasoning": "So.", "verdict": v}) for v in ("correct", "incorrect"))


def task(kind: str = "text", answer: str = "Paris", **metadata: object) -> Task:
    return Task(
        id="t",
        skill="s",
        question="Which city?",
        answer=answer,
        answer_kind=kind,
        metadata=metadata,
    )


def make_config(**changes: object) -> JudgeConfig:
    shipped = {key: SHIPPED[key] for key in ("kind", "system", "user", "asks")}
    return JudgeConfig(**(shipped | {"name": "test", "model": "GPT-5"} | changes))


def reply(text: str, **changes: object) -> Reply:
    attempt = Attempt(usage=USAGE, latency_s=2.0)
    fields = {"text": text, "reasoning": "", "is_cut": False, "usage": USAGE, "latency_s": 2.0}
    return Reply(**(fields | {"attempts": (attempt,)} | changes))


class PlannedModel:
    """A stand-in that gives planned replies, the last one again and again; an exception is raised.

    `pause` is awaited before each reply.
    """

    def __init__(self, *replies: Reply | str | Exception, pause: asyncio.Event | None = None):
        self.replies, self.pause = list(replies), pause
        self.asked: list[list] = []
        self.samplings: list = []
        self.num_running = self.most_running = 0

    async def complete(self, messages, *, sampling, deadline_s) -> Reply:
        self.asked.append(list(messages))
        self.samplings.append(sampling)
        self.num_running += 1
        self.most_running = max(self.most_running, self.num_running)
        try:
            await (self.pause.wait() if self.pause else asyncio.sleep(0))
        finally:
            self.num_running -= 1
        planned = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(planned, Exception):
            raise planned
        return reply(planned) if isinstance(planned, str) else planned


class ObedientModel(PlannedModel):
    """A stand-in that does as it is told outside the fences, and compares what is inside."""

    def __init__(self) -> None:
        super().__init__(WRONG)

    async def complete(self, messages, *, sampling, deadline_s) -> Reply:
        self.asked.append(list(messages))
        prompt = "\n".join(message.content for message in messages)
        mark = re.search(r"^\[question (\w+) begins\]$", prompt, re.MULTILINE)[1]
        parts, outside = {}, prompt
        for name in ("question", "gold", "answer"):
            begins, ends = f"[{name} {mark} begins]\n", f"\n[{name} {mark} ends]"
            assert (prompt.count(begins), prompt.count(ends)) == (1, 1)
            parts[name] = prompt.partition(begins)[2].partition(ends)[0]
            outside = outside.replace(f"{begins}{parts[name]}{ends}", "")
        is_told = "OBEY" in outside or re.search(r"<[|/\w]", outside) is not None
        return reply(RIGHT if is_told or parts["gold"] == parts["answer"] else WRONG)


def make_judge(asked, **changes) -> LlmJudge:
    return LlmJudge(make_config(**changes), model=asked, price=PRICE)


async def judged(answer, asked, *, of=None, **changes):
    """One judgement by a judge that asks the given stand-in."""
    judge = make_judge(asked, **changes)
    try:
        return await judge.judge(of or task(), answer, turn=3)
    finally:
        await judge.close()
