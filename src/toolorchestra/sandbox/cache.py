"""Runs each program once: later callers get the result, concurrent ones share the run."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from toolorchestra.sandbox.result import SandboxResult


class SandboxCache:
    """The latest results by code string, and the runs under way."""

    def __init__(
        self, run: Callable[[str], Coroutine[Any, Any, SandboxResult]], *, max_entries: int
    ) -> None:
        """Wrap a function that runs a program."""
        self._run = run
        self._max_entries = max_entries
        self._results: OrderedDict[str, SandboxResult] = OrderedDict()
        self._tasks: dict[str, asyncio.Task[SandboxResult]] = {}
        self._num_waiting: dict[str, int] = {}

    async def run(self, code: str) -> SandboxResult:
        """The result of the program. A run goes on until its last caller has given up.

        Raises:
            SandboxError: If the sandbox itself fails; that is not remembered.
        """
        if code in self._results:
            self._results.move_to_end(code)
            return self._results[code]
        if code not in self._tasks:
            self._tasks[code] = asyncio.create_task(self._run(code))
            self._num_waiting[code] = 0
        task = self._tasks[code]
        self._num_waiting[code] += 1
        try:
            result = await asyncio.shield(task)
        finally:
            self._leave(code, task)
        self._remember(code, result)
        return result

    def _leave(self, code: str, task: asyncio.Task[SandboxResult]) -> None:
        self._num_waiting[code] -= 1
        if self._num_waiting[code] == 0:
            del self._tasks[code], self._num_waiting[code]
            task.cancel()

    def _remember(self, code: str, result: SandboxResult) -> None:
        self._results[code] = result
        self._results.move_to_end(code)
        while len(self._results) > self._max_entries:
            self._results.popitem(last=False)
