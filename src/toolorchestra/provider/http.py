"""The HTTP client of one provider: time limits, a largest reply, and how long each reply took."""

from __future__ import annotations

import time

import httpx2

from toolorchestra.provider.config import ProviderConfig

_LATENCY = "latency_s"
_DECODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that no longer hold once a body has been read."""
MB = 1_000_000


def latency_s(response: httpx2.Response) -> float:
    """How long a reply took, from sending to its last byte."""
    return float(response.extensions[_LATENCY])


def make_client(config: ProviderConfig, *, max_reply_mb: float) -> httpx2.AsyncClient:
    """A client that nothing keeps waiting for ever."""
    return httpx2.AsyncClient(
        transport=Transport(max_reply_bytes=int(max_reply_mb * MB)),
        timeout=httpx2.Timeout(
            config.read_timeout_s, connect=config.connect_timeout_s, pool=config.attempt_timeout_s
        ),
        follow_redirects=False,
    )


class Transport(httpx2.AsyncBaseTransport):
    """Sends requests and reads each reply as a whole, up to a largest size."""

    def __init__(self, *, max_reply_bytes: int) -> None:
        """Opens a pool of connections, whose number is left to the provider's limits."""
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
        self._inner = httpx2.AsyncHTTPTransport(limits=limits)
        self._max_reply_bytes = max_reply_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answers one request."""
        start_s = time.perf_counter()
        response = await self._inner.handle_async_request(request)
        try:
            body = await self._read(response, request)
        finally:
            await response.aclose()
        headers = [(k, v) for k, v in response.headers.items() if k.lower() not in _DECODED]
        return httpx2.Response(
            response.status_code,
            headers=headers,
            content=body,
            request=request,
            extensions={_LATENCY: time.perf_counter() - start_s},
        )

    async def _read(self, response: httpx2.Response, request: httpx2.Request) -> bytes:
        pieces, size = [], 0
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > self._max_reply_bytes:
                limit_mb = self._max_reply_bytes / MB
                raise httpx2.ReadError(f"the reply is larger than {limit_mb:g} MB", request=request)
            pieces.append(piece)
        return b"".join(pieces)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._inner.aclose()
