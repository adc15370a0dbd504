"""A reply that was paid for is never asked for again."""

from __future__ import annotations

import json

import pytest
from tests.unit.tool.test_expert import PlannedModel

from toolorchestra.provider.base import Message, Sampling
from toolorchestra.synthesis.kept import KeptModel, KeptReplies
from toolorchestra.types import Price

PRICE = Price(usd_per_input_mtok=1e6, usd_per_output_mtok=10e6, source="test", date="2026-01-01")
"""Tokens at 1 and 10 dollars: the planned model uses 30 and 7, a reply costs 100."""


async def say(replies, text="Hi.", name="Big", said="Hello.", **sampling):
    inner = PlannedModel(said)
    model = KeptModel(inner, name, PRICE, replies)
    messages = [Message(role="user", content=text)]
    reply = await model.complete(messages, sampling=Sampling(**sampling), deadline_s=1.0)
    return reply, len(inner.asked)


async def test_the_same_question_is_asked_once_even_by_another_process(tmp_path):
    path = tmp_path / "new" / "replies.jsonl"
    replies = KeptReplies(path)
    first, num_asked = await say(replies)
    assert num_asked == 1
    for again in (replies, KeptReplies(path)):
        reply, num_asked = await say(again, said="Something else.")
        assert num_asked == 0
        assert (reply.text, reply.usage) == (first.text, first.usage)
        assert (again.num_kept, again.cost_usd) == (1, 100.0)


async def test_another_model_question_or_sampling_is_another_request(tmp_path):
    replies = KeptReplies(tmp_path / "replies.jsonl")
    for changes in ({}, {"name": "Small"}, {"text": "Ho."}, {"temperature": 1.0}):
        assert (await say(replies, **changes))[1] == 1
    assert replies.num_kept == 4


async def test_a_line_that_a_kill_cut_off_is_taken_away_and_the_next_one_is_whole(tmp_path):
    path = tmp_path / "replies.jsonl"
    await say(KeptReplies(path))
    whole = path.read_text()
    path.write_text(whole + whole[:40])
    replies = KeptReplies(path)
    assert path.read_text() == whole and replies.num_kept == 1
    await say(replies, "Ho.")
    assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == ["Hello."] * 2


@pytest.mark.parametrize("line", ["no json", '{"key": "k"}', "[]"])
async def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "replies.jsonl"
    await say(KeptReplies(path))
    with path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ValueError, match=r"replies\.jsonl:2 is not allowed .*; use another folder"):
        KeptReplies(path)


async def test_half_a_surrogate_pair_can_be_kept_and_said_again(tmp_path):
    path = tmp_path / "replies.jsonl"
    reply, _ = await say(KeptReplies(path), said="a\ud800b")
    assert reply.text == "a?b"
    assert (await say(KeptReplies(path)))[0].text == "a?b"


async def test_attempts_with_equal_requests_are_each_asked_and_kept(tmp_path):
    replies = KeptReplies(tmp_path / "replies.jsonl")

    async def attempt(number, said):
        inner = PlannedModel(said)
        model = KeptModel(inner, "Big", PRICE, replies, attempt=number)
        messages = [Message(role="user", content="Hi.")]
        reply = await model.complete(messages, sampling=Sampling(), deadline_s=1.0)
        return reply.text, len(inner.asked)

    assert await attempt(None, "zero") == ("zero", 1)
    assert await attempt(1, "one") == ("one", 1)
    assert await attempt(2, "two") == ("two", 1)
    assert await attempt(1, "other") == ("one", 0)
    assert await attempt(None, "other") == ("zero", 0)
    assert (replies.num_kept, replies.cost_usd) == (3, 300.0)


def test_a_file_that_nothing_was_written_to_is_not_there(tmp_path):
    assert KeptReplies(tmp_path / "new" / "replies.jsonl").num_kept == 0
    assert not (tmp_path / "new").exists()
