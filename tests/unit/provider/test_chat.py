"""One reply of a model, through whatever its provider does wrong."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager

import pytest
from benchmarks.provider.stand_in import (
    BEHAVIOURS,
    INPUT_TOKENS,
    KEY,
    OUTPUT_TOKENS,
    behaviour,
    stand_in,
)

from toolorchestra.provider.base import Message, Sampling
from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.connection import MAX_LASTING
from toolorchestra.provider.fault import ProviderFault, ProviderUnusable
from toolorchestra.provider.providers import Providers

ASK = [Message(role="system", content="Answer."), Message(role="user", content="What is 6 x 7?")]


@asynccontextmanager
async def model(plan, monkeypatch, **options):
    """The client of a model whose provider misbehaves by plan, and that provider."""
    monkeypatch.setenv("A_KEY", KEY)
    behaviours = plan if callable(plan) else lambda number: plan[min(number, len(plan) - 1)]
    async with stand_in(behaviours) as server:
        options = {"retry_first_s": 0.001, "base_url": server.url, **options}
        config = ProviderConfig(key_env="A_KEY", models={"Big": "big-1"}, **options)
        providers = Providers(
            ProvidersConfig(name="test", providers={"acme": config}, max_reply_mb=1)
        )
        try:
            yield providers.model("Big", wanted_by="a test"), server
        finally:
            await providers.close()


async def ask(client, *, deadline_s=20.0, **sampling):
    return await client.complete(ASK, sampling=Sampling(**sampling), deadline_s=deadline_s)


async def test_a_reply_holds_the_text_the_usage_as_reported_and_the_one_attempt(monkeypatch):
    async with model(["ok"], monkeypatch) as (client, server):
        reply = await ask(client, max_tokens=64, temperature=0.5)
    assert reply.text == "echo: What is 6 x 7?"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (INPUT_TOKENS, OUTPUT_TOKENS)
    assert reply.usage.num_requests == 1 and not reply.usage.is_estimated
    assert [item.fault for item in reply.attempts] == [None] and reply.latency_s > 0
    (request,) = server.requests
    assert request == {
        "model": "big-1",
        "messages": [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": "What is 6 x 7?"},
        ],
        "max_tokens": 64,
        "temperature": 0.5,
    }
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ("busy", "rate_limit"),
        ("crash", "server"),
        ("overloaded", "server"),
        ("error_in_200", "rate_limit"),
        ("no_json", "broken"),
        ("cut_json", "broken"),
        ("no_choices", "broken"),
        ("no_finish", "broken"),
        ("drop", "broken"),
        ("endless", "broken"),
    ],
)
async def test_what_may_go_away_is_tried_again_and_every_attempt_is_kept(
    behaviour, kind, monkeypatch
):
    async with model([behaviour, "ok"], monkeypatch) as (client, server):
        reply = await ask(client)
    assert [item.fault for item in reply.attempts] == [kind, None]
    assert reply.usage.num_requests == len(server.requests) == 2
    assert reply.usage.input_tokens == server.input_tokens
    assert reply.usage.output_tokens == server.output_tokens


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ("wrong_key", "auth"),
        ("no_quota", "quota"),
        ("no_quota_429", "quota"),
        ("no_model", "not_found"),
        ("too_long", "input"),
        ("bad_request", "refused"),
    ],
)
async def test_what_no_retry_mends_is_a_fault_after_one_request(behaviour, kind, monkeypatch):
    async with model([behaviour], monkeypatch) as (client, server):
        with pytest.raises(ProviderFault) as caught:
            await ask(client)
    assert caught.value.kind == kind and len(server.requests) == 1
    assert "acme" in str(caught.value) and caught.value.usage.num_requests == 1


@pytest.mark.parametrize("behaviour", ["wrong_key", "no_quota_429", "no_model"])
async def test_a_provider_that_only_people_can_mend_ends_the_run_after_a_while(
    behaviour, monkeypatch
):
    async with model([behaviour], monkeypatch) as (client, _):
        for _ in range(MAX_LASTING - 1):
            with pytest.raises(ProviderFault):
                await ask(client)
        with pytest.raises(ProviderUnusable, match="resume=auto"):
            await ask(client)


async def test_one_answer_in_between_shows_that_the_provider_lives(monkeypatch):
    plan = [*["no_model"] * (MAX_LASTING - 1), "ok", "no_model"]
    async with model(plan, monkeypatch) as (client, _):
        for behaviour in plan:
            if behaviour == "ok":
                await ask(client)
            else:
                with pytest.raises(ProviderFault):
                    await ask(client)


async def test_a_key_never_stands_in_a_fault_even_if_the_provider_says_it_aloud(monkeypatch):
    async with model(["wrong_key"], monkeypatch) as (client, _):
        with pytest.raises(ProviderFault) as caught:
            await ask(client)
    assert KEY not in str(caught.value) and "***" in str(caught.value)
    assert caught.value.__cause__ is None or KEY not in str(caught.value.__cause__)


async def test_a_provider_that_is_busy_for_ever_is_given_up_by_the_deadline(monkeypatch):
    async with model(["busy"], monkeypatch) as (client, server):
        start_s = time.monotonic()
        with pytest.raises(ProviderFault) as caught:
            await ask(client, deadline_s=2.0)
        assert time.monotonic() - start_s < 20
    assert caught.value.kind in ("rate_limit", "timeout")  # the last attempt may be cut off
    assert caught.value.usage.num_requests == len(server.requests) > 1


async def test_a_wait_beyond_the_deadline_is_not_waited_for(monkeypatch):
    async with model(["busy_for_long"], monkeypatch) as (client, server):
        start_s = time.monotonic()
        with pytest.raises(ProviderFault, match="come back tomorrow"):
            await ask(client, deadline_s=30.0)
        assert time.monotonic() - start_s < 10 and len(server.requests) == 1


async def test_a_provider_that_hangs_is_left_at_the_deadline_and_the_attempt_counts(monkeypatch):
    async with model(["hang"], monkeypatch) as (client, server):
        with pytest.raises(ProviderFault) as caught:
            await ask(client, deadline_s=0.3)
    assert caught.value.kind == "timeout" and len(server.requests) == 1
    assert caught.value.usage.num_requests == 1


async def test_a_single_request_has_a_limit_of_its_own(monkeypatch):
    async with model(["hang", "ok"], monkeypatch, attempt_timeout_s=0.2) as (client, _):
        reply = await ask(client)
    assert [item.fault for item in reply.attempts] == ["timeout", None]


async def test_silence_is_a_timeout(monkeypatch):
    async with model(["hang", "ok"], monkeypatch, read_timeout_s=0.2) as (client, _):
        reply = await ask(client)
    assert [item.fault for item in reply.attempts] == ["timeout", None]


async def test_nobody_listening_is_a_broken_connection(monkeypatch, unused_tcp_port):
    url = f"http://127.0.0.1:{unused_tcp_port}/v1"
    never = {"retry_first_s": 1e9, "retry_longest_s": 1e9}
    async with model(["ok"], monkeypatch, base_url=url, **never) as (client, _):
        with pytest.raises(ProviderFault) as caught:
            await ask(client)
    assert caught.value.kind == "broken"


async def test_usage_that_is_not_reported_is_estimated_and_says_so(monkeypatch):
    async with model(["no_usage"], monkeypatch) as (client, _):
        usage = (await ask(client)).usage
    # "Answer." and "What is 6 x 7?" are 21 characters, "echo: What is 6 x 7?" 20: four a token
    assert (usage.input_tokens, usage.output_tokens, usage.num_requests) == (6, 5, 1)
    assert usage.is_estimated


async def test_no_more_requests_are_in_flight_than_allowed(monkeypatch):
    async with model(["ok"], monkeypatch, max_concurrent=3) as (client, server):
        await asyncio.gather(*(ask(client) for _ in range(20)))
    assert server.most_open <= 3 and len(server.requests) == 20


def test_every_behaviour_of_the_stand_in_is_tried_here():
    tried = """ok busy crash overloaded error_in_200 no_json cut_json no_choices no_finish drop
        endless wrong_key no_quota no_quota_429 no_model too_long bad_request busy_for_long hang
        no_usage"""
    own = {name for name, do in BEHAVIOURS.items() if do.__module__ == behaviour.__module__}
    assert set(tried.split()) == own  # other tests add behaviours of their own
