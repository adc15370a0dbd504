"""Searches a second that one server answers: to one client, and to many at once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import aiohttp

from toolorchestra.process import free_port

START_S = 120.0
TOP_K = 10


@contextlib.contextmanager
def server(folder: Path, *, max_batch: int) -> Iterator[str]:
    """The address of a server process, which has one thread to compute with."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolorchestra.retrieval", "serve", "--index", str(folder)]
        + ["--port", str(port), "--max-batch", str(max_batch)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


async def searches_a_second(
    url: str, texts: Sequence[str], *, num_clients: int, num_searches: int
) -> float:
    """So many searches by clients that each ask one after the other."""
    left = iter(itertools.islice(itertools.cycle(texts), num_searches))
    connector = aiohttp.TCPConnector(limit=num_clients)
    async with aiohttp.ClientSession(connector=connector) as http:
        await _until_up(http, url)

        async def client() -> None:
            for text in left:
                body = {"queries": [text], "top_k": TOP_K}
                async with http.post(f"{url}/search", json=body) as answer:
                    hits = (await answer.json())["results"][0]
                    assert answer.status == 200 and len(hits) == TOP_K

        begun = time.monotonic()
        await asyncio.gather(*(client() for _ in range(num_clients)))
        return num_searches / (time.monotonic() - begun)


async def _until_up(http: aiohttp.ClientSession, url: str) -> None:
    async with asyncio.timeout(START_S):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with http.get(f"{url}/health"):
                    return
            await asyncio.sleep(0.1)
