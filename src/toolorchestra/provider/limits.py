"""How hard one provider may be asked: requests in flight, requests and tokens a minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from toolorchestra.provider.config import ProviderConfig

MINUTE_S = 60.0


class Limits:
    """The gate before one provider. It belongs to one event loop."""

    def __init__(self, config: ProviderConfig) -> None:
        self._in_flight = asyncio.Semaphore(config.max_concurrent)
        self._requests = _limiter(config.requests_per_minute)
        self._tokens = _limiter(config.tokens_per_minute)
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Waits until a request of about so many tokens may be sent, and holds its place."""
        async with self._in_flight:
            # first come, first served: the limiter alone lets small requests overtake large ones
            async with self._turn:
                if self._requests is not None:
                    await self._requests.acquire()
                if self._tokens is not None:
                    # one that is larger than a minute's worth takes the whole minute
                    await self._tokens.acquire(min(tokens, self._tokens.max_rate))
            yield


def _limiter(per_minute: int | None) -> AsyncLimiter | None:
    return None if per_minute is None else AsyncLimiter(per_minute, MINUTE_S)
