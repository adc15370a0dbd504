"""What providers answered, kept and given again: to the same callers, byte for byte, no keys."""

from __future__ import annotations

import asyncio
import json

import pytest
from benchmarks.provider.stand_in import KEY, stand_in

from toolorchestra.provider.base import Message, Sampling
from toolorchestra.provider.cassette import CassetteMiss, calling
from toolorchestra.provider.config import CassetteConfig, ProviderConfig, ProvidersConfig
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.providers import Providers


def providers(url, path, mode, **options):
    config = ProviderConfig(
        base_url=url, key_env="A_KEY", models={"Big": "big-1"}, retry_first_s=0.001, **options
    )
    cassette = CassetteConfig(mode=mode, path=str(path))
    return Providers(ProvidersConfig(name="t", providers={"acme": config}, cassette=cassette))


async def ask(model, text, *, caller="e1/0/big/0", deadline_s=10.0):
    with calling(caller):
        try:
            messages = [Message(role="user", content=text)]
            return await model.complete(messages, sampling=Sampling(), deadline_s=deadline_s)
        except ProviderFault as fault:
            return (fault.kind, str(fault), fault.usage)


async def recorded(path, monkeypatch, plan, ask_all, **options):
    monkeypatch.setenv("A_KEY", KEY)
    async with stand_in(plan) as server:
        live = providers(server.url, path, "record", **options)
        answers = await ask_all(live.model("Big", wanted_by="a test"))
        await live.close()
    return answers, server


async def replayed(path, monkeypatch, ask_all):
    monkeypatch.delenv("A_KEY", raising=False)
    replay = providers("http://127.0.0.1:9/v1", path, "replay")  # nobody is there, and no key
    answers = await ask_all(replay.model("Big", wanted_by="a test"))
    await replay.close()
    return answers


async def test_a_replay_gives_the_very_replies_without_a_key_or_a_provider(tmp_path, monkeypatch):
    async def ask_all(model):
        return [await ask(model, "one"), await ask(model, "two\n\u00fc\u2028\U0001f600")]

    path = tmp_path / "a.jsonl"
    plan = ["busy", "ok", "no_usage"].__getitem__
    answers, server = await recorded(path, monkeypatch, plan, ask_all)
    assert len(server.requests) == 3 and [len(a.attempts) for a in answers] == [2, 1]
    assert await replayed(path, monkeypatch, ask_all) == answers


@pytest.mark.parametrize("behaviour", ["wrong_key", "busy", "hang", "endless", "too_long"])
async def test_a_fault_is_replayed_as_it_was_and_not_waited_for(behaviour, tmp_path, monkeypatch):
    async def ask_all(model):
        return await ask(model, "x", deadline_s=0.3)

    path = tmp_path / "a.jsonl"
    fault, _ = await recorded(path, monkeypatch, lambda n: behaviour, ask_all)
    assert isinstance(fault, tuple)
    assert await replayed(path, monkeypatch, ask_all) == fault


async def test_each_caller_gets_its_own_answer_in_whatever_order_they_come(tmp_path, monkeypatch):
    # the same words, answered by a server that says something else each time
    async def ask_all(model, order=tuple(range(8))):
        callers = [f"e{index}/0/big/0" for index in range(8)]
        asked = [ask(model, "same", caller=callers[index]) for index in order]
        answers = await asyncio.gather(*asked)
        return dict(zip([callers[index] for index in order], answers, strict=True))

    path = tmp_path / "a.jsonl"
    plan = ["ok", "no_usage", "busy", "ok", "crash", *["ok"] * 20].__getitem__
    answers, _ = await recorded(path, monkeypatch, plan, ask_all)
    assert len({len(answer.attempts) for answer in answers.values()}) > 1
    backwards = await replayed(path, monkeypatch, lambda m: ask_all(m, tuple(range(7, -1, -1))))
    assert backwards == answers


async def test_equal_calls_of_one_caller_are_answered_in_order(tmp_path, monkeypatch):
    async def ask_all(model):
        return [await ask(model, "same") for _ in range(3)]

    path = tmp_path / "a.jsonl"
    plan = ["no_usage", "ok", "busy", "ok"].__getitem__
    answers, _ = await recorded(path, monkeypatch, plan, ask_all)
    assert await replayed(path, monkeypatch, ask_all) == answers


async def test_what_was_never_recorded_is_no_silent_nothing(tmp_path, monkeypatch):
    async def ask_all(model):
        return await ask(model, "one")

    path = tmp_path / "a.jsonl"
    await recorded(path, monkeypatch, lambda n: "ok", ask_all)
    with pytest.raises(CassetteMiss, match="e1/0/big/0.*two.*record it again"):
        await replayed(path, monkeypatch, lambda model: ask(model, "two"))


async def test_no_key_is_kept_even_if_a_provider_or_a_policy_says_it(tmp_path, monkeypatch):
    async def ask_all(model):
        return [await ask(model, f"my key is {KEY}"), await ask(model, "x")]

    path = tmp_path / "a.jsonl"
    plan = ["ok", "wrong_key"].__getitem__
    await recorded(path, monkeypatch, plan, ask_all)
    text = path.read_text()
    assert KEY not in text and "***" in text and "Authorization" not in text


async def test_a_cassette_is_never_written_over(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    path = tmp_path / "a.jsonl"
    path.write_text("mine")
    with pytest.raises(ValueError, match="it is there already"):
        providers("http://127.0.0.1:9/v1", path, "record")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"key": "k"}', '{"key": "k", "fault": {}}'])
def test_a_corrupt_cassette_is_named_with_its_line(line, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"key": "k", "answer": {}}) + "\n" + line + "\n")
    with pytest.raises(ValueError, match=r"a\.jsonl:2: no line of a cassette"):
        providers("http://127.0.0.1:9/v1", path, "replay")


def test_a_cassette_that_is_not_there_is_asked_for(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        providers("http://127.0.0.1:9/v1", tmp_path / "none.jsonl", "replay")
