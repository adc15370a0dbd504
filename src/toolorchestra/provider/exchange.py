"""One question to a provider: as many requests as it takes, each of them accounted for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import httpx2

from toolorchestra.pricing.total import total_usage
from toolorchestra.provider.base import Attempt
from toolorchestra.provider.connection import Connection
from toolorchestra.provider.fault import FaultKind, ProviderFault
from toolorchestra.provider.http import latency_s
from toolorchestra.types import Usage

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Question(Generic[T]):
    """What is asked, and how an answer is read."""

    send: Callable[[str], Awaitable[httpx2.Response]]
    """Sends it once to an address."""
    read: Callable[[httpx2.Response], T]
    """Reads an answer; raises ProviderFault where it is none."""
    usage: Callable[[httpx2.Response, T | None], Usage]
    """What a response says that it used; with the answer, where it could be read."""
    tokens: int
    """About how many tokens it and its answer have, for limits; 0 for a search."""
    model: str
    """The provider's id of what is asked."""


async def exchange(
    connection: Connection, question: Question[T], *, deadline_s: float
) -> tuple[T, tuple[Attempt, ...]]:
    """The answer and all requests that were sent for it; the last one was answered.

    Raises:
        ProviderFault: There is no answer; `usage` says what the requests used.
        ProviderUnusable: See `Connection.retried`.
    """
    attempts: list[Attempt] = []

    async def attempt() -> T:
        async with connection.slot(
            tokens=question.tokens, model=question.model, deadline_s=deadline_s
        ) as url:
            return await _attempt(connection, question, url, attempts)

    try:
        answer = await connection.retried(attempt, deadline_s=deadline_s)
    except ProviderFault as fault:
        fault.usage = total_usage(item.usage for item in attempts)
        raise
    return answer, tuple(attempts)


async def _attempt(
    connection: Connection, question: Question[T], url: str, attempts: list[Attempt]
) -> T:
    """One request, noted down whatever comes of it."""
    usage, fault = Usage(num_requests=1), _CUT_OFF
    took_s, start_s = None, time.perf_counter()
    try:
        response = await _sent(connection, question, url)
        took_s, usage = latency_s(response), question.usage(response, None)
        answer = question.read(response)
        usage, fault = question.usage(response, answer), None
        return answer
    except ProviderFault as error:
        fault = error.kind
        raise
    finally:
        took_s = time.perf_counter() - start_s if took_s is None else took_s
        attempts.append(Attempt(usage=usage, latency_s=took_s, fault=fault))


async def _sent(connection: Connection, question: Question[T], url: str) -> httpx2.Response:
    limit_s = connection.config.attempt_timeout_s
    try:
        async with asyncio.timeout(limit_s) as limit:
            return await question.send(url)
    except httpx2.TransportError as error:
        raise connection.fault("", of=error) from None
    except TimeoutError:
        if not limit.expired():
            raise
        raise connection.timeout(limit_s) from None


_CUT_OFF: FaultKind | None = "timeout"
"""What a request is that a deadline ended while it was under way."""
