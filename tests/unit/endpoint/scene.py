"""Replicas in the test's own event loop, keepers as processes, and ways to wait for them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from toolorchestra.endpoint.client import Endpoints
from toolorchestra.endpoint.registry import Endpoint, Registry

MODEL = "Qwen/Qwen3-32B"
STAND_IN = (
    *(sys.executable, str(Path(__file__).with_name("stand_in.py"))),
    *("--host", "{host}", "--port", "{port}", "--folder"),
)
BEAT_S, LIFETIME_S, POLL_S = 0.05, 0.25, 0.02


class Replica:
    """A server that answers with its number, and beats until its heart is stopped."""

    def __init__(self, folder: Path, number: int) -> None:
        self.registry, self.number, self.num_calls = Registry(folder), number, 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        application = web.Application()
        application.router.add_get("/", self._answer)
        self.server = TestServer(application)

    async def start(self) -> None:
        await self.server.start_server()
        url = str(self.server.make_url("")).rstrip("/")
        self.endpoint = self.registry.announce(MODEL, url=url, lifetime_s=LIFETIME_S)
        self._heart = asyncio.create_task(self._beat())

    async def stop(self) -> None:
        self.stop_heart()
        self.may_answer.set()
        await self.server.close()

    def stop_heart(self) -> None:
        """As if its machine had vanished: connections stay open, and nothing comes."""
        self._heart.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            self.endpoint = self.registry.beat(self.endpoint)

    async def _answer(self, request: web.Request) -> web.Response:
        self.num_calls += 1
        await self.may_answer.wait()
        return web.Response(text=str(self.number))


@asynccontextmanager
async def replicas(folder: Path, *, count: int) -> AsyncIterator[list[Replica]]:
    made = [Replica(folder, number) for number in range(count)]
    async with AsyncExitStack() as stack:
        for replica in made:
            await replica.start()
            stack.push_async_callback(replica.stop)
        yield made


def endpoints_of(folder: Path, **options: Any) -> Endpoints:
    return Endpoints(Registry(folder), **({"poll_s": POLL_S} | options))


async def ask(endpoints: Endpoints, *, deadline_s: float = 10.0) -> str:
    """One call to the model, which itself has no time limit."""
    unlimited = aiohttp.ClientTimeout(total=None)
    async with (
        endpoints.using(MODEL, deadline_s=deadline_s) as endpoint,
        aiohttp.ClientSession(timeout=unlimited) as http,
        http.get(endpoint.url) as answer,
    ):
        return await answer.text()


@contextmanager
def keeper(
    folder: Path, *, deaf: bool = False, options: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m toolorchestra.endpoint.keeper` with a stand-in, both with files in `folder`."""
    command = [*STAND_IN, str(folder), *(["--deaf"] if deaf else [])]
    flags = ["--service", MODEL, "--registry", str(folder / "servers"), "--bind", "127.0.0.1"]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "toolorchestra.endpoint.keeper", *flags),
            *("--beat-s", "0.2", "--end-s", "0.5", *options, "--", *command),
        ],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        for pid in pids_of(folder):
            if is_alive(pid):
                os.kill(pid, 9)


async def found(registry: Registry, *, count: int = 1) -> list[Endpoint]:
    """Waits for so many replicas of the model."""
    await until(lambda: len(registry.find(MODEL)) == count)
    return registry.find(MODEL)


def pids_of(folder: Path) -> list[int]:
    """All that the stand-ins of a folder ever started, and themselves."""
    path = folder / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def warden_of(pid: int) -> int | None:
    """The process that watches over a server."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes().split(b"\0")[3:5] == [b"warden", b"%d" % pid]:
                return int(path.parent.name)
    return None


async def until(condition: Callable[[], object], *, timeout_s: float = 30.0) -> None:
    """Waits for something to come about."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be taken note of does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
