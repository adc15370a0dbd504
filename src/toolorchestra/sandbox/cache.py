"""Runs each program once on the same files: later callers get the result of the first.

Concurrent ones share its run.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.result import SandboxResult

_Key = tuple[str, tuple[tuple[str, str], ...]]
_Run = Callable[[str, tuple[InputFile, ...]], Coroutine[Any, Any, SandboxResult]]


class SandboxCache:
    """The latest results by code and digests of files, and the runs under way."""

    def __init__(self, run: _Run, *, max_entries: int) -> None:
        """Wrap a function that runs a program."""
        self._run = run
        self._max_entries = max_entries
        self._results: OrderedDict[_Key, SandboxResult] = OrderedDict()
        self._tasks: dict[_Key, asyncio.Task[SandboxResult]] = {}
        self._num_waiting: dict[_Key, int] = {}

    async def run(self, code: str, files: tuple[InputFile, ...] = ()) -> SandboxResult:
        """The result of the program. A run goes on until its last caller has given up.

        Raises:
            SandboxError: If the sandbox itself fails; that is not remembered.
        """
        key = (code, tuple((file.name, file.sha256) for file in files))
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._run(code, files))
            self._num_waiting[key] = 0
        task = self._tasks[key]
        self._num_waiting[key] += 1
        try:
            result = await asyncio.shield(task)
        finally:
            self._leave(key, task)
        self._remember(key, result)
        return result

    def _leave(self, key: _Key, task: asyncio.Task[SandboxResult]) -> None:
        self._num_waiting[key] -= 1
        if self._num_waiting[key] == 0:
            del self._tasks[key], self._num_waiting[key]
            task.cancel()

    def _remember(self, key: _Key, result: SandboxResult) -> None:
        self._results[key] = result
        self._results.move_to_end(key)
        while len(self._results) > self._max_entries:
            self._results.popitem(last=False)
