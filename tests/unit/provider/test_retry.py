"""Trying again: what for, how long, and when to leave it."""

from __future__ import annotations

import asyncio
import time
from random import Random

import pytest

from toolorchestra.provider.fault import RETRYABLE, ProviderFault
from toolorchestra.provider.retry import retried


async def run(plan, *, deadline_s=10.0, first_s=0.0, longest_s=0.0):
    """Plays a plan of faults and answers; gives the answer and how often it was tried."""
    tried = 0

    async def attempt():
        nonlocal tried
        step = plan[min(tried, len(plan) - 1)]
        tried += 1
        if isinstance(step, Exception):
            raise step
        if callable(step):
            return await step()
        return step

    options = {"deadline_s": deadline_s, "first_s": first_s, "longest_s": longest_s}
    return await retried(attempt, rng=Random(0), **options), tried


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
async def test_what_may_go_away_is_tried_again(kind):
    fault = ProviderFault("x", kind=kind)
    assert await run([fault, fault, "answer"]) == ("answer", 3)


async def test_what_asks_for_more_time_than_there_is_is_left_at_once():
    fault = ProviderFault("later", kind="rate_limit", retry_after_s=60.0)
    start_s = time.monotonic()
    with pytest.raises(ProviderFault, match="later"):
        await run([fault, "answer"], deadline_s=20.0)
    assert time.monotonic() - start_s < 10


async def test_a_provider_is_left_alone_as_long_as_it_asks():
    fault = ProviderFault("later", kind="rate_limit", retry_after_s=0.3)
    start_s = time.monotonic()
    assert await run([fault, "answer"]) == ("answer", 2)
    assert time.monotonic() - start_s >= 0.3


async def test_an_attempt_that_hangs_ends_with_the_deadline():
    async def hang():
        await asyncio.sleep(60)

    with pytest.raises(ProviderFault, match=r"no answer within 0\.2 s") as caught:
        await run([hang], deadline_s=0.2)
    assert caught.value.kind == "timeout"


async def test_a_bug_is_no_fault_and_is_not_tried_again():
    with pytest.raises(KeyError):
        await run([KeyError("bug"), "answer"])


async def test_a_time_limit_of_the_attempts_own_is_not_taken_for_the_deadline():
    with pytest.raises(TimeoutError):
        await run([TimeoutError("its own"), "answer"])
