"""The stand-in server of `standin_server` as an engine: for overlap only, it samples nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping

from transformers import PreTrainedModel

from toolorchestra.engine.base import Completion, Request

SERVER = "benchmarks.rollout.standin_server"


class StandinEngine:
    """Asks the stand-in how long each message takes."""

    def __init__(self, *, step_s: float) -> None:
        """Starts nothing yet; `step_s` is what a token of a full batch takes."""
        self.version = 0
        self._step_s = step_s
        self._server: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._num_asked = 0

    async def load(self, model: PreTrainedModel, version: int) -> Mapping[str, float]:
        """Takes no weights and no time, and names those that messages are from now on."""
        if self._server is None:
            command = [sys.executable, "-m", SERVER, str(self._step_s)]
            self._server = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
            self._reader = asyncio.create_task(self._read(self._server))
        self.version = version
        return {}

    @contextlib.asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """Holds nothing."""
        yield

    async def generate(self, request: Request) -> Completion:
        """Waits until the server would have sampled `max_tokens` tokens."""
        self._num_asked += 1
        number, version, length = self._num_asked, self.version, request.max_tokens
        done = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._ask(number, length)
        try:
            await done
        except asyncio.CancelledError:
            self._ask(number, 0)
            raise
        finally:
            del self._waiting[number]
        return Completion(
            ids=(0,) * length, logprobs=(-1.0,) * length, finish_reason="length", version=version
        )

    async def close(self) -> None:
        """Ends the server."""
        if self._server is None or self._reader is None:
            return
        self._reader.cancel()
        with contextlib.suppress(ProcessLookupError):
            self._server.kill()
        await self._server.wait()

    def _ask(self, number: int, length: int) -> None:
        assert self._server is not None and self._server.stdin is not None, "load comes first"
        self._server.stdin.write(f"[{number}, {length}]\n".encode())

    async def _read(self, server: Process) -> None:
        assert server.stdout is not None
        async for line in server.stdout:
            for number in json.loads(line):
                future = self._waiting.get(number)
                if future is not None and not future.done():
                    future.set_result(None)
        for future in self._waiting.values():
            future.set_exception(RuntimeError("the stand-in server ended"))
