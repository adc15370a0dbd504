"""Interpreters started ahead, so that a call need not wait for one.

Each serves one program or one session and is then ended by whoever took it. What goes wrong with
one while it waits concerns nobody: it is dropped, and the taker starts an interpreter as if there
were no pool.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable

from toolorchestra.sandbox.process import SandboxProcess
from toolorchestra.sandbox.result import SandboxError

_STARTS_PER_CORE = 4
"""A start waits for the kernel more than it computes; hundreds at one time would all come late."""


class WarmWorkers:
    """Up to `num_workers` interpreters that are ready or about to be; none before the first use."""

    def __init__(self, make: Callable[[], SandboxProcess], *, num_workers: int) -> None:
        """Start nothing yet.

        Args:
            make: Makes an interpreter that is not started.
            num_workers: How many wait at one time.
        """
        self._make = make
        self._num_workers = num_workers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starts: deque[asyncio.Task[SandboxProcess]] = deque()
        self._turns = asyncio.Semaphore()
        self._is_closed = False

    async def take(self) -> SandboxProcess | None:
        """An interpreter that waits for code, to be closed by the caller; None if there is none.

        Where all of them are still starting, waits for the one that was started first.
        """
        if not self._num_workers:
            return None
        await self._follow_loop()
        self._is_closed = False
        self._fill()
        start = next((start for start in self._starts if start.done()), self._starts[0])
        self._starts.remove(start)
        self._fill()
        try:
            worker = await asyncio.shield(start)
        except SandboxError:
            return None
        except asyncio.CancelledError:
            self._starts.appendleft(start)
            if self._is_closed:
                await self.close()
            raise
        if worker.is_alive:
            return worker
        await worker.close()
        return None

    async def close(self) -> None:
        """End all that wait; a later `take` would start anew."""
        self._is_closed = True
        starts = list(self._starts)
        self._starts.clear()
        own = asyncio.get_running_loop()
        pending = [start for start in starts if not start.done() and start.get_loop() is own]
        for start in pending:
            start.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for start in starts:
            if start.done() and not start.cancelled() and start.exception() is None:
                await start.result().close()

    async def _follow_loop(self) -> None:
        """Drop what belongs to an earlier event loop: a trainer may use one loop a step."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._turns = asyncio.Semaphore(_STARTS_PER_CORE * (os.cpu_count() or 1))
            await self.close()

    def _fill(self) -> None:
        while len(self._starts) < self._num_workers:
            self._starts.append(asyncio.create_task(self._start()))

    async def _start(self) -> SandboxProcess:
        async with self._turns:
            worker = self._make()
            try:
                await worker.start()
            except BaseException:  # cancelled too: no process may be left behind
                await worker.close()
                raise
            return worker
