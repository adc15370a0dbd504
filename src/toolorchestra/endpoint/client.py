"""Calls to registered servers: which replica to take, and what to do when it dies in mid-call.

    endpoints = Endpoints(Registry(folder))
    async with endpoints.using("Qwen/Qwen3-32B", deadline_s=60.0) as endpoint:
        ...  # await the answer of endpoint.url

Whatever goes wrong with a server comes out as an `EndpointFault`. A tool may try again, which takes
another replica where there is one; in the end it answers with a result of status "provider_error".
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import aiohttp

from toolorchestra.endpoint.registry import Endpoint, Registry

CONNECTION_ERRORS = (
    aiohttp.ClientConnectionError,
    aiohttp.ClientPayloadError,  # broke off in the midst of an answer
    ConnectionError,
)

READ_S = 1.0
"""How long the folder may take to answer before its last list has to do."""


class EndpointFault(Exception):
    """A provider's fault, never the policy's: no server, or one that died."""


class NoEndpoint(EndpointFault):
    """No replica of a service could be called within the deadline."""


class EndpointLost(EndpointFault):
    """A replica died, or its connection broke, during a call."""


class Endpoints:
    """Shares the calls of one process, and of one event loop, among the replicas of services."""

    def __init__(
        self,
        registry: Registry,
        *,
        poll_s: float = 0.5,
        suspect_s: float = 5.0,
        rng: Random | None = None,
    ) -> None:
        """Reads nothing yet.

        Args:
            registry: Where servers are announced; nobody else may use this instance.
            poll_s: How old the list of servers may be; well below the time between their beats.
            suspect_s: How long a replica that failed a call is passed over.
            rng: Chooses among replicas that are equally busy. Unseeded by default: processes that
                all took the same one would crowd it.
        """
        self._registry, self._poll_s, self._suspect_s = registry, poll_s, suspect_s
        self._rng = rng or Random()
        self._in_flight: Counter[str] = Counter()
        self._suspect_until: dict[str, float] = {}
        self._listing: tuple[Endpoint, ...] | None = None
        self._read_at = -math.inf
        self._reading: asyncio.Task[tuple[Endpoint, ...]] | None = None

    async def pick(self, service: str, *, deadline_s: float) -> Endpoint:
        """The live replica with the fewest calls in flight; waits for one if need be.

        A replica that failed lately is not taken, even if it is the only one: it gets time to come
        back.

        Raises:
            NoEndpoint: There was none within `deadline_s`.
        """
        deadline = time.monotonic() + deadline_s
        while True:
            await self._refresh()
            now = time.monotonic()
            replicas = [
                item
                for item in self._listing or ()
                if item.service == service
                and item.is_ready
                and self._suspect_until.get(item.id, now) <= now
            ]
            if replicas:
                fewest = min(self._in_flight[item.id] for item in replicas)
                idlest = [item for item in replicas if self._in_flight[item.id] == fewest]
                return self._rng.choice(idlest)
            if now >= deadline:
                raise NoEndpoint(self._why_none(service, deadline_s))
            await asyncio.sleep(min(self._poll_s, deadline - now))

    @asynccontextmanager
    async def using(self, service: str, *, deadline_s: float) -> AsyncIterator[Endpoint]:
        """Picks a replica and counts the block as a call to it, which ends early if it dies.

        Args:
            service: What is to be called.
            deadline_s: How long to wait for a replica; the call itself has no limit here.

        Raises:
            NoEndpoint: There was none within `deadline_s`.
            EndpointLost: It died, or the block met a broken connection: then it is passed over.
        """
        endpoint = await self.pick(service, deadline_s=deadline_s)
        self._in_flight[endpoint.id] += 1
        try:
            async with self.watch(endpoint):
                yield endpoint
        except aiohttp.SocketTimeoutError:
            raise  # slow is not dead
        except CONNECTION_ERRORS as error:
            self.report_failure(endpoint)
            raise EndpointLost(f"{service} at {endpoint.url}: {error!r}") from error
        finally:
            self._in_flight[endpoint.id] -= 1
            if not self._in_flight[endpoint.id]:
                del self._in_flight[endpoint.id]

    @asynccontextmanager
    async def watch(self, endpoint: Endpoint) -> AsyncIterator[None]:
        """Ends the block when a server stops beating, or is withdrawn.

        Raises:
            EndpointLost: So it was.
        """
        try:
            async with asyncio.timeout(None) as scope:
                guard = asyncio.create_task(self._end_with(endpoint, scope))
                try:
                    yield
                finally:
                    guard.cancel()
        except TimeoutError:
            if not scope.expired():
                raise  # the block's own
            raise EndpointLost(
                f"{endpoint.service} at {endpoint.url} died during a call: withdrawn, or without "
                f"a beat for {endpoint.lifetime_s:g} s"
            ) from None

    def report_failure(self, endpoint: Endpoint) -> None:
        """Has a replica passed over for `suspect_s`."""
        now = time.monotonic()
        recent = {name: until for name, until in self._suspect_until.items() if until > now}
        self._suspect_until = recent | {endpoint.id: now + self._suspect_s}

    async def _end_with(self, endpoint: Endpoint, scope: asyncio.Timeout) -> None:
        while True:
            await self._refresh()
            if self._listing is not None and not any(
                item.id == endpoint.id and item.is_ready for item in self._listing
            ):
                scope.reschedule(asyncio.get_running_loop().time())
                return
            await asyncio.sleep(self._poll_s)

    async def _refresh(self) -> None:
        """Reads the list anew if it is old, once for all who wait for it, and in a thread.

        A file system may hang: who has waited `READ_S` goes on with the list that there is.
        """
        if self._reading is None:
            if time.monotonic() - self._read_at < self._poll_s:
                return
            self._reading = asyncio.create_task(asyncio.to_thread(self._registry.read))
            self._reading.add_done_callback(self._take)
        reading = self._reading
        await asyncio.wait({reading}, timeout=READ_S)
        if reading.done():
            reading.result()  # raises what is no fault of the disk

    def _take(self, reading: asyncio.Task[tuple[Endpoint, ...]]) -> None:
        self._reading = None
        if not reading.cancelled() and reading.exception() is None:
            self._listing, self._read_at = reading.result(), time.monotonic()

    def _why_none(self, service: str, deadline_s: float) -> str:
        listing, folder = self._listing, self._registry.folder
        known = [item for item in listing or () if item.service == service]
        others = sorted({item.service for item in listing or ()} - {service})
        found = [
            f"{item.url} {'failed a call' if item.is_ready else 'is starting'}" for item in known
        ]
        if others:
            found.append(f"there are servers of {', '.join(others)}")
        if trouble := "the folder does not answer" if listing is None else self._registry.trouble:
            found.append(trouble)
        about = f" ({'; '.join(found)})" if found else ""
        return (
            f"no server of {service} in {folder} within {deadline_s:g} s{about}; start one with "
            f"python -m toolorchestra.endpoint.keeper --service {service} --registry {folder} -- "
            "COMMAND --host {host} --port {port}"
        )
