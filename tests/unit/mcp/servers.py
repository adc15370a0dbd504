"""Servers to test with: good and bad ones over stdio, and real ones over HTTP on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import uvicorn
from mcp.server.mcpserver import MCPServer

from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.process import free_port

HERE = Path(__file__).parent
LIBRARY, ROGUE = str(HERE / "library.py"), str(HERE / "rogue.py")
PATIENCE_S = 60.0


def library(**changes: Any) -> McpServerConfig:
    fields = {"command": sys.executable, "args": [LIBRARY], "priced_as": "library", "latency_s": 2}
    return McpServerConfig(**(fields | changes))


def rogue(folder: Path, *how: str, **changes: Any) -> McpServerConfig:
    fields = {
        "command": sys.executable,
        "args": ["-S", ROGUE, str(folder), *how],
        "priced_as": "rogue",
        "latency_s": 2,
        "max_message_bytes": 1_000_000,
    }
    return McpServerConfig(**(fields | changes))


def starts(folder: Path) -> list[int]:
    """Process ids of all rogues that were started."""
    return [int(line) for line in (folder / "starts").read_text().split()]


def is_alive(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.02)


def http_tools() -> MCPServer:
    """A server with tools that misbehave as far as one over HTTP can."""
    server = MCPServer("web")

    @server.tool(structured_output=False)
    def echo(text: str) -> str:
        return text

    @server.tool(structured_output=False)
    def flood() -> str:
        return "x" * 10_000_000

    @server.tool(structured_output=False)
    async def hang() -> str:
        await asyncio.sleep(1000)
        return ""

    return server


class HttpServer:
    """A server in a thread; every request must bear `token`, where there is one."""

    def __init__(
        self, *, port: int | None = None, token: str = "", json: bool = False, status: int = 0
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.status = status
        self._token = token
        self._app = http_tools().streamable_http_app(json_response=json)
        config = uvicorn.Config(
            self._check, host="127.0.0.1", port=self.port, log_level="critical", interface="asgi3"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + PATIENCE_S
        while not self._server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self._server.started

    async def _check(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        status = self.status
        if self._token and headers.get(b"authorization") != f"Bearer {self._token}".encode():
            status = 401
        if scope["type"] == "http" and status:
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
        else:
            await self._app(scope, receive, send)

    def close(self) -> None:
        self._server.force_exit = self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@contextlib.contextmanager
def http_server(**options: Any) -> Iterator[HttpServer]:
    server = HttpServer(**options)
    try:
        yield server
    finally:
        server.close()


@contextlib.asynccontextmanager
async def closing(thing: Any) -> AsyncIterator[Any]:
    try:
        yield thing
    finally:
        await thing.close()


def no_children() -> bool:
    """Whether this process has no child that runs a server."""
    for child in psutil.Process(os.getpid()).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("mcp_" in word for word in child.cmdline()):
                return False
    return True
