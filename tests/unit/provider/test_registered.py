"""Models behind servers that register themselves: found, shared out, passed over when dead."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from benchmarks.provider.stand_in import stand_in

from toolorchestra.endpoint.registry import Registry
from toolorchestra.provider.base import Message, Sampling
from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.providers import Providers

ID = "acme/big-1"


@asynccontextmanager
async def model(folder, *urls):
    """The client of a model with replicas at some addresses."""
    registry = Registry(folder)
    for url in urls:
        registry.announce(ID, url=url.removesuffix("/v1"), lifetime_s=60.0)
    config = ProviderConfig(registry=str(folder), models={"Big": ID}, retry_first_s=0.001)
    providers = Providers(ProvidersConfig(name="t", providers={"own": config}))
    try:
        yield providers.model("Big", wanted_by="a test")
    finally:
        await providers.close()


async def ask(client, *, deadline_s=20.0):
    messages = [Message(role="user", content="hello")]
    return await client.complete(messages, sampling=Sampling(), deadline_s=deadline_s)


async def test_calls_at_once_are_shared_among_the_replicas(tmp_path):
    plan = lambda number: "ok"  # noqa: E731
    async with stand_in(plan) as one, stand_in(plan) as two:
        async with model(tmp_path, one.url, two.url) as client:
            replies = await asyncio.gather(*(ask(client) for _ in range(12)))
        assert len(one.requests) + len(two.requests) == 12
        assert one.requests and two.requests
    assert {reply.text for reply in replies} == {"echo: hello"}
    assert one.requests[0]["model"] == ID and one.headers[0]["Authorization"] == "Bearer none"


async def test_a_replica_that_nobody_hears_is_passed_over_and_the_other_answers(
    tmp_path, unused_tcp_port
):
    dead = f"http://127.0.0.1:{unused_tcp_port}"
    async with (
        stand_in(lambda number: "ok") as alive,
        model(tmp_path, dead, alive.url) as client,
    ):
        replies = [await ask(client) for _ in range(6)]
    # whichever was taken first: at most one attempt of all went to the dead one
    assert sum(len(reply.attempts) - 1 for reply in replies) <= 1
    assert len(alive.requests) == 6


async def test_without_a_replica_the_call_waits_until_its_deadline_and_says_what_to_start(tmp_path):
    async with model(tmp_path) as client:
        with pytest.raises(ProviderFault, match=rf"no server of {ID}"):
            await ask(client, deadline_s=0.3)


async def test_a_replica_that_comes_later_answers_a_call_that_waits(tmp_path):
    async with stand_in(lambda number: "ok") as late, model(tmp_path) as client:
        waiting = asyncio.create_task(ask(client))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        url = late.url.removesuffix("/v1")
        await asyncio.to_thread(Registry(tmp_path).announce, ID, url=url, lifetime_s=60.0)
        assert (await waiting).text == "echo: hello"
