"""The workers of one domain: as many as may run at one time, each started when it is needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from toolorchestra.domain.untrusted.worker import Worker


class Workers:
    """Hands each question to a worker that is free; may be asked from any thread."""

    def __init__(self, make: Callable[[], Worker], *, max_workers: int) -> None:
        """Start nothing yet.

        Args:
            make: Starts a worker.
            max_workers: How many run at one time.
        """
        self._make = make
        self._max_workers = max_workers
        self._forget()

    def ask(self, message: bytes) -> bytes:
        """What the code inside answers, which may be anything.

        Raises:
            WorkerError: Nothing that could be read.
        """
        if os.getpid() != self._pid:
            self._forget()  # They belong to the process that this one is a fork of.
        idle = self._idle
        with self._free:
            worker = self._take()
            try:
                return worker.ask(message)
            finally:
                if worker.is_alive:
                    idle.append(worker)

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._free = threading.Semaphore(self._max_workers)
        self._idle: list[Worker] = []
        # A sandbox ends with the thread that started it, so that is never the caller's.
        self._starter = ThreadPoolExecutor(max_workers=1)

    def _take(self) -> Worker:
        while self._idle:
            try:
                worker = self._idle.pop()
            except IndexError:  # Another thread was faster.
                break
            if worker.is_alive:
                return worker
            worker.end()
        return self._starter.submit(self._make).result()
