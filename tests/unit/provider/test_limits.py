"""How hard a provider is asked: places in flight, requests and tokens a minute."""

from __future__ import annotations

import asyncio
import time

import pytest

from toolorchestra.provider import limits as limits_module
from toolorchestra.provider.config import ProviderConfig
from toolorchestra.provider.limits import Limits


def gate(**options) -> Limits:
    return Limits(ProviderConfig(base_url="http://127.0.0.1:9/v1", **options))


async def passed(limits, sizes):
    """How long it takes until requests of these sizes were let through, and in which order."""
    order = []

    async def request(number, tokens):
        async with limits.slot(tokens):
            order.append(number)

    start_s = time.monotonic()
    await asyncio.gather(*(request(number, tokens) for number, tokens in enumerate(sizes)))
    return time.monotonic() - start_s, order


@pytest.fixture(autouse=True)
def short_minute(monkeypatch):
    monkeypatch.setattr(limits_module, "MINUTE_S", 0.4)


async def test_beyond_a_minutes_requests_the_next_ones_wait_in_order():
    # two at once, then one each half of 0.4 s: the fifth after 3 x 0.2 s
    took_s, order = await passed(gate(requests_per_minute=2), [1] * 5)
    assert took_s >= 0.55 and order == [0, 1, 2, 3, 4]


async def test_beyond_a_minutes_tokens_the_next_ones_wait():
    # 100 at once, then 100 each 0.4 s: the last after 0.4 s
    took_s, _ = await passed(gate(tokens_per_minute=100), [50, 50, 50, 50])
    assert took_s >= 0.35


async def test_a_small_request_does_not_overtake_a_large_one():
    _, order = await passed(gate(tokens_per_minute=100), [100, 90, 1, 1, 1])
    assert order == [0, 1, 2, 3, 4]


async def test_a_request_larger_than_a_minutes_tokens_takes_the_minute_and_is_not_refused():
    _, order = await passed(gate(tokens_per_minute=100), [5000, 1])
    assert order == [0, 1]


async def test_without_limits_nothing_waits_but_for_a_place():
    limits = gate(max_concurrent=2)
    open_now = most = 0

    async def request():
        nonlocal open_now, most
        async with limits.slot(10**9):
            open_now += 1
            most = max(most, open_now)
            await asyncio.sleep(0)
            open_now -= 1

    await asyncio.gather(*(request() for _ in range(20)))
    assert most == 2


async def test_a_request_that_gives_up_leaves_its_place():
    limits = gate(max_concurrent=1)
    async with limits.slot(1):
        waiting = asyncio.create_task(passed(limits, [1]))
        await asyncio.sleep(0.01)
        waiting.cancel()
    _, order = await passed(limits, [1])
    assert order == [0]
