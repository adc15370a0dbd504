"""Descriptions of models: from tasks, their own answers and how these came out."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.tool.local_world import make_context
from tests.unit.tool.test_expert import PlannedModel

from toolorchestra.provider.base import Reply
from toolorchestra.synthesis.config import WriterConfig
from toolorchestra.synthesis.describe import (
    NoDescription,
    account,
    attempt_all,
    write_description,
)
from toolorchestra.types import ToolResult, Usage


class Saying:
    """A stand-in for a tool: it says the same to every question."""

    def __init__(self, content, status="ok"):
        self.content, self.status, self.closed = content, status, []

    async def call(self, arguments, context):
        assert arguments == {}  # the model is asked the task's own question
        return ToolResult(
            call_id=context.call_id, name="big", content=self.content, status=self.status,
            usage=Usage(output_tokens=3, num_requests=1), latency_s=1.0,
        )  # fmt: skip

    async def close_session(self, session):
        self.closed.append(session)


class Writer(PlannedModel):
    """A stand-in for the model that writes: it says what was planned, one reply after the other."""

    def __init__(self, *said):
        super().__init__("")
        self.replies = list(said)

    async def complete(self, messages, *, sampling, deadline_s) -> Reply:
        self.said = self.replies.pop(0)
        return await super().complete(list(messages), sampling=sampling, deadline_s=deadline_s)


def episodes():
    return [
        make_context("Who wrote Hamlet?", answer="Shakespeare").episode,
        make_context("Who painted Guernica?", answer="Picasso").episode,
    ]


CONFIG = WriterConfig(model="Writer", system="Describe it.", max_words=10)


async def test_the_models_own_answers_are_judged_and_kept_with_what_they_used():
    tool = Saying("answer: Picasso")
    attempts = await attempt_all(tool, episodes())
    assert [item.is_right for item in attempts] == [False, True]
    assert [item.question for item in attempts] == ["Who wrote Hamlet?", "Who painted Guernica?"]
    assert attempts[0].usage.output_tokens == 3 and len(tool.closed) == 2


async def test_a_model_that_cannot_be_asked_is_not_described():
    with pytest.raises(NoDescription, match="error: 401"):
        await attempt_all(Saying("error: 401", "provider_error"), episodes())


async def test_the_writer_reads_task_reply_outcome_and_the_right_answer():
    attempts = await attempt_all(Saying("answer: Picasso"), episodes())
    writer = Writer("<think>hm</think>Good at art,\npoor at plays.")
    text, usage = await write_description(writer, CONFIG, attempts, deadline_s=9.0)
    assert text == "Good at art, poor at plays." and usage.input_tokens == 30
    (messages, _, deadline_s), *_ = writer.asked
    assert messages[0].content == "Describe it." and deadline_s == 9.0
    told = messages[1].content
    assert "## Task 1 (lookup)\nWho wrote Hamlet?" in told
    assert "which was wrong\nanswer: Picasso\n\n### The right answer\nShakespeare" in told
    assert "which was right\nanswer: Picasso" in told


async def test_a_writer_that_writes_too_much_is_asked_once_more_and_both_are_counted():
    attempts = await attempt_all(Saying("answer: x"), episodes())
    writer = Writer("word " * 11, "Good at nothing.")
    text, usage = await write_description(writer, CONFIG, attempts, deadline_s=9.0)
    assert text == "Good at nothing." and usage.num_requests == 2
    assert writer.asked[1][0][-1].content == "Write it in 1 to 10 words."


@pytest.mark.parametrize("said", ["", "<think>never ends", "word " * 11])
def test_a_writer_that_writes_nothing_or_too_much_twice_has_written_nothing(said):
    async def write():
        attempts = await attempt_all(Saying("answer: x"), episodes())
        await write_description(Writer(said, said), CONFIG, attempts, deadline_s=9.0)

    with pytest.raises(NoDescription, match="writer.max_words"):
        asyncio.run(write())


async def test_of_a_long_reply_the_writer_sees_both_ends():
    attempts = await attempt_all(Saying("a" * 50 + "b" * 50), episodes()[:1])
    assert "aaaaa\n(cut here)\nbbbbb" in account(attempts, 10)


@pytest.mark.parametrize("options", [{"model": " "}, {"system": ""}, {"max_words": 3}])
def test_a_writer_that_cannot_be_meant_is_refused(options):
    with pytest.raises(ValueError, match=r"writer\."):
        WriterConfig(**{"model": "m", "system": "s", **options})
