"""An MCP server behind a URL: the package's own transport, with a token and bounded responses."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from toolorchestra.mcp.witness import Witness

CONNECT_S = 10.0
MIN_READ_S = 300.0
"""A stream on which a server says nothing may stay open as long."""


class _TooLong(httpx2.StreamError):
    """A kind of fault that the transport lays to the one request."""


class _Capped(httpx2.AsyncByteStream):
    """A response's body up to a number of bytes."""

    def __init__(self, body: httpx2.AsyncByteStream, max_bytes: int, witness: Witness) -> None:
        self._body, self._max_bytes, self._witness = body, max_bytes, witness

    async def __aiter__(self) -> AsyncIterator[bytes]:
        num_bytes = 0
        async for chunk in self._body:
            num_bytes += len(chunk)
            if num_bytes > self._max_bytes:
                said = f"it sent a message of more than {self._max_bytes} bytes"
                self._witness.see(said)
                raise _TooLong(said)
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


@contextlib.asynccontextmanager
async def http_transport(
    url: str, *, token: str, call_timeout_s: float, max_message_bytes: int, witness: Witness
) -> AsyncIterator[TransportStreams]:
    """A connection to a server.

    Args:
        url: Its address.
        token: Bearer token; empty: none.
        call_timeout_s: How long an answer may take.
        max_message_bytes: A longer message fails the request that it answers.
        witness: Hears what goes wrong.
    """

    async def look(response: httpx2.Response) -> None:
        if response.request.method == "POST":  # servers may refuse others, as it pleases them
            is_error = response.status_code >= 400
            witness.http_status = response.status_code if is_error else None
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Capped(response.stream, max_message_bytes, witness)

    async with (
        httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(CONNECT_S, read=max(MIN_READ_S, 2 * call_timeout_s)),
            event_hooks={"response": [look]},
        ) as client,
        streamable_http_client(
            url, http_client=client, max_sse_event_size=max_message_bytes
        ) as streams,
    ):
        yield streams
