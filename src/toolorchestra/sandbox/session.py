"""Interpreters that live as long as a rollout, so that its calls share their variables."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace

from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.process import SandboxProcess
from toolorchestra.sandbox.result import SandboxResult
from toolorchestra.sandbox.sandbox import Sandbox

RESTARTED = "the interpreter was restarted: earlier variables are gone"


class SandboxSession:
    """One rollout's interpreter; it is replaced by a new one where it has died."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Start nothing yet: the first run does."""
        self._sandbox = sandbox
        self._process: SandboxProcess | None = None
        self._has_run = False
        self._lock = asyncio.Lock()

    @property
    def is_idle(self) -> bool:
        """Whether no run is under way or waiting."""
        return not self._lock.locked()

    async def run(self, code: str, files: tuple[InputFile, ...] = ()) -> SandboxResult:
        """Run code on the variables of the earlier runs.

        Args:
            code: Python source.
            files: What a new interpreter finds in its folder.

        Raises:
            SandboxError: If the sandbox itself fails.
        """
        async with self._lock:
            is_fresh = self._process is None or not self._process.is_alive
            try:
                if is_fresh:
                    await self._end()
                    self._process, result = await self._sandbox.begin(code, files, is_last=False)
                else:
                    assert self._process is not None
                    result = await self._process.run(code, is_last=False)
            except BaseException:  # Cancelled in the middle, it cannot take the next request.
                await self._end()
                raise
            if is_fresh and self._has_run:
                result = replace(result, note="; ".join(filter(None, (RESTARTED, result.note))))
            self._has_run = True
            return result

    async def close(self) -> None:
        """End the interpreter; a later run would start a new one."""
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.close()


class SessionPool:
    """The sessions by key, at most `max_sessions`, lest rollouts that died leave theirs behind."""

    def __init__(self, sandbox: Sandbox, *, max_sessions: int) -> None:
        """Start empty."""
        self._sandbox = sandbox
        self._max_sessions = max_sessions
        self._sessions: OrderedDict[str, SandboxSession] = OrderedDict()

    async def run(self, code: str, files: tuple[InputFile, ...] = (), *, key: str) -> SandboxResult:
        """Run code in the session of this key.

        Raises:
            SandboxError: If the sandbox itself fails.
        """
        session = self._sessions.setdefault(key, SandboxSession(self._sandbox))
        self._sessions.move_to_end(key)
        await self._close_oldest()
        return await session.run(code, files)

    async def close(self, key: str) -> None:
        """End the session of this key, if there is one."""
        session = self._sessions.pop(key, None)
        if session is not None:
            await session.close()

    async def close_all(self) -> None:
        """End every session."""
        while self._sessions:
            await self.close(next(iter(self._sessions)))

    async def _close_oldest(self) -> None:
        for key in list(self._sessions)[: -self._max_sessions]:
            if self._sessions[key].is_idle:
                await self.close(key)
