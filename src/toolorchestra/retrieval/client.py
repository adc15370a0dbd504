"""Searching: in this process, or through a server. Faults of a server are retried for a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import aiohttp
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_before_delay,
    wait_exponential_jitter,
)

from toolorchestra.endpoint.client import CONNECTION_ERRORS, EndpointFault, Endpoints
from toolorchestra.endpoint.registry import Registry
from toolorchestra.retrieval.answer import read_hits, reason_of
from toolorchestra.retrieval.batcher import Batcher
from toolorchestra.retrieval.fault import RetrievalFault
from toolorchestra.retrieval.index import PassageIndex
from toolorchestra.retrieval.record import Hit, Query


class SearchClient(Protocol):
    """Something that can be searched."""

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """The hits of one query, best first.

        Raises:
            RetrievalFault: There is no answer, whatever was tried.
        """
        ...

    async def close(self) -> None:
        """Releases threads and connections."""
        ...


class InProcess:
    """Searches an index that is open here."""

    def __init__(self, index: PassageIndex) -> None:
        """Starts nothing yet."""
        self._batcher = Batcher(index, max_wait_s=0.0)

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchClient.search`; it has no faults."""
        (hits,) = await self._batcher.search([query])
        return hits

    async def close(self) -> None:
        """See `SearchClient.close`."""
        await self._batcher.close()


class _Passing(Exception):
    """A fault that may be gone at the next attempt."""


def _fault_of(state: RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


class Remote:
    """Searches at a server: one that is named, or any replica of a service in the registry."""

    def __init__(
        self,
        *,
        url: str | None = None,
        service: str | None = None,
        registry: Path | None = None,
        deadline_s: float,
    ) -> None:
        """Connects to nothing yet.

        Args:
            url: Of a server, without a path.
            service: What to look for in `registry`, where no url is given.
            registry: The folder where servers are announced.
            deadline_s: How long a search may take, all attempts together.
        """
        self._url, self._service, self._registry = url, service, registry
        self._deadline_s = deadline_s
        self._connected: tuple[asyncio.AbstractEventLoop, aiohttp.ClientSession, Any] | None = None

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchClient.search`."""
        end, reasons = time.monotonic() + self._deadline_s, dict[str, None]()
        try:
            async for attempt in AsyncRetrying(
                stop=stop_before_delay(self._deadline_s),
                wait=wait_exponential_jitter(multiplier=0.1, max=2.0, jitter=0.1),
                retry=retry_if_exception_type(_Passing),
                after=lambda state: reasons.update({str(_fault_of(state)): None}),
                reraise=True,
            ):
                with attempt:
                    return await self._attempt(query, end - time.monotonic())
        except _Passing as fault:
            told = "; ".join(reasons or [str(fault)])
            raise RetrievalFault(f"no search within {self._deadline_s:g} s: {told}") from fault
        raise AssertionError("attempts end by a result or an exception")

    async def close(self) -> None:
        """See `SearchClient.close`."""
        if self._connected is not None:
            await self._connected[1].close()
            self._connected = None

    async def _attempt(self, query: Query, left_s: float) -> tuple[Hit, ...]:
        body = {
            "queries": [query.text],
            "top_k": query.top_k,
            "allowed": None if query.allowed is None else list(query.allowed),
        }
        try:
            async with (
                asyncio.timeout(max(left_s, 0.001)),
                self._server(left_s) as (http, url),
                http.post(f"{url}/search", json=body) as answer,
            ):
                status, text = answer.status, await answer.text()
        except TimeoutError as error:
            raise _Passing("the server gave no answer in time") from error
        except (EndpointFault, *CONNECTION_ERRORS) as error:
            raise _Passing(str(error)) from error
        except aiohttp.ClientError as error:
            raise RetrievalFault(f"the server cannot be asked: {error!r}") from error
        if status >= 500 or status == 429:
            raise _Passing(f"status {status}: {reason_of(text)}")
        if status != 200:
            raise RetrievalFault(f"the server refused the search: {reason_of(text)}")
        return read_hits(text)

    @asynccontextmanager
    async def _server(self, left_s: float) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
        http, endpoints = self._connect()
        if self._url is not None:
            yield http, self._url.rstrip("/")
            return
        assert self._service is not None
        # sooner than the search itself is given up, as it knows why there is none
        async with endpoints.using(self._service, deadline_s=0.9 * left_s) as endpoint:
            yield http, endpoint.url

    def _connect(self) -> tuple[aiohttp.ClientSession, Endpoints]:
        """The session of this event loop; that of one which has ended is of no use."""
        loop = asyncio.get_running_loop()
        if self._connected is None or self._connected[0] is not loop:
            http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
            endpoints = Endpoints(Registry(self._registry or Path()))
            self._connected = (loop, http, endpoints)
        return self._connected[1], self._connected[2]
