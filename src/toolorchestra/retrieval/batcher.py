"""Searches that come at the same time are done at once, in the one thread that touches the index.

While a batch runs, the next one gathers. An idle index waits some milliseconds for company.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from toolorchestra.retrieval.fault import Overloaded
from toolorchestra.retrieval.index import PassageIndex
from toolorchestra.retrieval.record import Hit, Query


@dataclass(frozen=True, slots=True)
class _Waiting:
    query: Query
    found: asyncio.Future[tuple[Hit, ...]]


class Batcher:
    """Searches an index that may be exchanged at any time."""

    def __init__(
        self,
        index: PassageIndex,
        *,
        max_batch: int = 64,
        max_wait_s: float = 0.002,
        max_pending: int = 4096,
    ) -> None:
        """Starts nothing yet.

        Args:
            index: What is searched.
            max_batch: Most queries that are searched at once.
            max_wait_s: How long the first query of a batch waits for others.
            max_pending: Most queries that may wait.
        """
        self.index = index
        """Another one is searched from the next batch on."""
        self.num_batches = 0
        self._max_batch, self._max_wait_s, self._max_pending = max_batch, max_wait_s, max_pending
        self._pending: deque[_Waiting] = deque()
        self._drain: asyncio.Task[None] | None = None
        self._full: asyncio.Event | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="retrieval")

    async def search(self, queries: Sequence[Query]) -> list[tuple[Hit, ...]]:
        """The hits of each query.

        Raises:
            Overloaded: Too many wait already.
        """
        if len(self._pending) + len(queries) > self._max_pending:
            raise Overloaded(f"{len(self._pending)} queries wait already")
        loop = asyncio.get_running_loop()
        waiting = [_Waiting(query, loop.create_future()) for query in queries]
        self._pending.extend(waiting)
        if self._drain is None or self._drain.done():
            self._full = asyncio.Event()
            self._drain = loop.create_task(self._work())
        if self._full is not None and len(self._pending) >= self._max_batch:
            self._full.set()
        return await asyncio.gather(*(each.found for each in waiting))

    async def close(self) -> None:
        """Waits for the batch that runs; the thread ends."""
        if self._drain is not None and not self._drain.done():
            await asyncio.wait({self._drain})
        self._thread.shutdown()

    async def _work(self) -> None:
        """Takes batches until nobody waits."""
        assert self._full is not None
        if len(self._pending) < self._max_batch:
            try:
                async with asyncio.timeout(self._max_wait_s):
                    await self._full.wait()
            except TimeoutError:
                pass
        while self._pending:
            count = min(self._max_batch, len(self._pending))
            batch = [self._pending.popleft() for _ in range(count)]
            # whoever gave up needs no answer
            await self._search([each for each in batch if not each.found.done()])

    async def _search(self, batch: Sequence[_Waiting]) -> None:
        if not batch:
            return
        queries = [each.query for each in batch]
        loop = asyncio.get_running_loop()
        try:
            results = await loop.run_in_executor(self._thread, self.index.search, queries)
        except Exception as error:  # handed on to all who wait for it
            for each in batch:
                if not each.found.done():
                    each.found.set_exception(error)
            return
        self.num_batches += 1
        for each, hits in zip(batch, results, strict=True):
            if not each.found.done():
                each.found.set_result(hits)
