"""Small corpora, indices built of them, and a server in the test's own event loop."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn

from toolorchestra.retrieval.batcher import Batcher
from toolorchestra.retrieval.build import build
from toolorchestra.retrieval.config import BuildConfig, CorpusConfig, EncoderConfig, IndexConfig
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.request import Limits
from toolorchestra.retrieval.server import SearchServer

NAMES = ("Velmor", "Kelbis", "Tardun")


def documents(count: int = 3) -> list[dict[str, str]]:
    """ "d0", "d1", ...: the first three are of their own names."""
    names = [*NAMES, *(f"Town{i}" for i in range(3, count))][:count]
    return [
        {"id": f"d{i}", "title": name, "text": f"The mayor of {name} is Xa{i}."}
        for i, name in enumerate(names)
    ]


def config_of(
    folder: Path,
    rows: Sequence[dict[str, str]] | None = None,
    *,
    index: IndexConfig | None = None,
    encoder: EncoderConfig | None = None,
    overwrite: bool = False,
    **corpus: object,
) -> BuildConfig:
    """Builds `folder` from rows, which are written beside it."""
    path = folder.with_suffix(".jsonl")
    rows = documents() if rows is None else rows
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return BuildConfig(
        corpus=CorpusConfig(kind="jsonl", path=str(path), **corpus),
        encoder=encoder or EncoderConfig(kind="hashed"),
        index=index or IndexConfig(kind="flat"),
        out=str(folder),
        overwrite=overwrite,
    )


def built(folder: Path, rows: Sequence[dict[str, str]] | None = None, **changes: object) -> Path:
    """The folder of an index over the rows."""
    build(config_of(folder, rows, **changes))
    return folder


@asynccontextmanager
async def serving(
    folder: Path, *, limits: Limits | None = None, **options: float
) -> AsyncIterator[tuple[str, Batcher]]:
    """Address and batcher of a server of an index."""
    batcher = Batcher(open_index(folder), **options)
    search = SearchServer(folder, batcher, limits=limits or Limits())
    server = uvicorn.Server(uvicorn.Config(search.app, log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as door:
        task = asyncio.create_task(server._serve(sockets=[door]))
        await until(lambda: server.started)
        yield f"http://127.0.0.1:{door.getsockname()[1]}", batcher
        server.should_exit = True
        await task
    await batcher.close()


async def until(condition: Callable[[], object], *, timeout_s: float = 60.0) -> None:
    """Waits for something to come about."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.01)
