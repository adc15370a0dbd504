"""Runs the server as a process, as a keeper starts it, until a signal asks for its end.

SIGHUP loads the index again; SIGTERM, SIGINT and SIGUSR2 let the requests at work finish.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from toolorchestra.process import STOP_SIGNALS
from toolorchestra.retrieval.batcher import Batcher
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.request import Limits
from toolorchestra.retrieval.server import SearchServer

log = logging.getLogger(__name__)

GRACE_S = 10
"""How long requests at work may take to finish."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServeOptions:
    """What is served, where, and how."""

    index: Path
    port: int
    host: str = "127.0.0.1"
    device: str | None = None
    max_batch: int = 64
    max_wait_ms: float = 2.0
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if not 1 <= self.port < 65536:
            raise ValueError(f"--port: {self.port} is not allowed; use 1 to 65535")
        if self.max_batch < 1:
            raise ValueError(
                f"--max-batch: {self.max_batch} is not allowed; use a whole number from 1"
            )
        if not 0 <= self.max_wait_ms <= 1000:
            raise ValueError(f"--max-wait-ms: {self.max_wait_ms} is not allowed; use 0 to 1000")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `serve` to its parser."""
    parser.add_argument("--index", type=Path, required=True, help="folder that build made")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
    parser.add_argument("--device", help="where a model runs, e.g. cuda:1 (as the index says)")
    parser.add_argument("--max-batch", type=int, default=64, help="queries at once (64)")
    parser.add_argument(
        "--max-wait-ms", type=float, default=2.0, help="a query waits for others so long (2)"
    )
    for name, default in (
        ("body-bytes", Limits().max_body_bytes),
        ("queries", Limits().max_queries),
        ("top-k", Limits().max_top_k),
    ):
        parser.add_argument(
            f"--max-{name}", type=int, default=default, help=f"of one request ({default})"
        )


def options_of(asked: argparse.Namespace) -> ServeOptions:
    """Checks what was asked for.

    Raises:
        ValueError: Names the option, its value and what is allowed.
    """
    limits = Limits(
        max_body_bytes=asked.max_body_bytes,
        max_queries=asked.max_queries,
        max_top_k=asked.max_top_k,
    )
    names = ("index", "port", "host", "device", "max_batch", "max_wait_ms")
    return ServeOptions(**{name: getattr(asked, name) for name in names}, limits=limits)


class _Server(uvicorn.Server):
    """Leaves signals to `serve`: uvicorn would end the process by the signal that it heard."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(options: ServeOptions) -> None:
    """Serves until a signal comes; it listens once the index is open.

    Raises:
        ValueError: The index cannot be opened.
        OSError: It cannot listen there.
    """
    index = await asyncio.to_thread(open_index, options.index, device=options.device)
    batcher = Batcher(index, max_batch=options.max_batch, max_wait_s=options.max_wait_ms / 1000)
    search = SearchServer(options.index, batcher, limits=options.limits, device=options.device)
    config = uvicorn.Config(
        search.app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE_S
    )
    server = _Server(config)
    loop, reloads = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    def reload() -> None:
        task = loop.create_task(_reload(search))
        reloads.add(task)  # the loop itself would forget it
        task.add_done_callback(reloads.discard)

    for number in (*STOP_SIGNALS, signal.SIGINT):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
    loop.add_signal_handler(signal.SIGHUP, reload)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.create_server((options.host, options.port), family=family, backlog=2048) as door:
        log.info("serving %s at http://%s:%d", options.index, options.host, options.port)
        await server.serve(sockets=[door])
    await batcher.close()


async def _reload(search: SearchServer) -> None:
    with contextlib.suppress(ValueError):  # told already
        await search.reload()
