"""Tries again what may go away by itself, with jitter, as long as a deadline allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_before_delay

from toolorchestra.provider.fault import ProviderFault

T = TypeVar("T")


async def retried(
    attempt: Callable[[], Awaitable[T]],
    *,
    deadline_s: float,
    first_s: float,
    longest_s: float,
    rng: Random,
) -> T:
    """Awaits `attempt()` until it succeeds, fails for good, or the deadline is near.

    Before attempt n + 1 it waits a random time up to `first_s` times 2^(n-1), at most `longest_s`,
    after what the provider asks for. Where that would end beyond the deadline, it gives up at once:
    nobody waits for what cannot come.

    Raises:
        ProviderFault: The last fault; of kind "timeout" where the deadline cut an attempt off.
    """
    last: list[BaseException] = []

    def wait(state: RetryCallState) -> float:
        longest = min(longest_s, first_s * 2.0 ** (state.attempt_number - 1))
        fault = state.outcome.exception() if state.outcome else None
        last[:] = [fault] if fault is not None else []
        asked = getattr(fault, "retry_after_s", None) or 0.0
        return asked + rng.uniform(0.0, longest)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda e: isinstance(e, ProviderFault) and e.is_retryable),
        wait=wait,
        stop=stop_before_delay(deadline_s),
        reraise=True,
    )
    try:
        async with asyncio.timeout(deadline_s) as deadline:
            return await retrying(attempt)
    except TimeoutError:
        if not deadline.expired():
            raise
        before = f"; before that, {last[0]}" if last else ""
        raise ProviderFault(f"no answer within {deadline_s:g} s{before}", kind="timeout") from None
