"""An index over HTTP: searches are batched, and the index can be exchanged while they go on.

POST /search {"queries": [...], "top_k": 10, "allowed": [ids] or null}
    -> {"results": [[{"id", "document", "title", "text", "score"}, ...], ...]}
GET /health, GET /manifest, POST /reload.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from toolorchestra.codec import to_json
from toolorchestra.retrieval.batcher import Batcher
from toolorchestra.retrieval.fault import Overloaded
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.request import Limits, read_queries

log = logging.getLogger(__name__)


class SearchServer:
    """The application, and what it serves."""

    def __init__(
        self, folder: Path, batcher: Batcher, *, limits: Limits, device: str | None = None
    ) -> None:
        """Serves what the batcher searches.

        Args:
            folder: Of the index, from which it is opened again on demand.
            batcher: Searches it.
            limits: Of one request.
            device: Where a model runs; None: as the manifest says.
        """
        self._folder, self._batcher, self._limits, self._device = folder, batcher, limits, device
        self._reloading = asyncio.Lock()
        self.app = Starlette(
            routes=[
                Route("/search", self._search, methods=["POST"]),
                Route("/health", self._health),
                Route("/manifest", self._manifest),
                Route("/reload", self._reload, methods=["POST"]),
            ]
        )

    async def reload(self) -> None:
        """Opens the folder's index, then exchanges the one that is searched until then.

        Raises:
            ValueError: It cannot be opened; the old one stays.
        """
        async with self._reloading:
            old = self._batcher.index
            try:
                new = await asyncio.to_thread(
                    open_index, self._folder, device=self._device, like=old
                )
            except ValueError as error:
                log.warning("not reloaded, and the old index goes on: %s", error)
                raise
            self._batcher.index = new
        log.info("reloaded %s: %s passages", self._folder, f"{new.manifest.num_passages:,}")

    async def _search(self, request: Request) -> JSONResponse:
        body = await _read_body(request, self._limits.max_body_bytes)
        if body is None:
            limit = self._limits.max_body_bytes
            return _refusal(413, f"the body is too large; at most {limit} bytes are allowed")
        try:
            queries = read_queries(body, self._limits)
        except ValueError as error:
            return _refusal(400, str(error))
        try:
            found = await self._batcher.search(queries)
        except Overloaded as error:
            return _refusal(503, f"too busy: {error}")
        return JSONResponse({"results": [[to_json(hit) for hit in hits] for hits in found]})

    async def _health(self, request: Request) -> JSONResponse:
        manifest = self._batcher.index.manifest
        return JSONResponse({"status": "ok", "num_passages": manifest.num_passages})

    async def _manifest(self, request: Request) -> JSONResponse:
        return JSONResponse(to_json(self._batcher.index.manifest))

    async def _reload(self, request: Request) -> JSONResponse:
        try:
            await self.reload()
        except ValueError as error:
            return _refusal(409, f"not reloaded, and the old index goes on: {error}")
        return await self._health(request)


async def _read_body(request: Request, limit: int) -> bytes | None:
    """The body; None where it is longer than `limit`, of which no more than that is read."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _refusal(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": reason}, status_code=status)
