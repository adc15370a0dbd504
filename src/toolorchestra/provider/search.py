"""Searches of the web: one question, a few hits. A new provider is one pair of functions here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from toolorchestra.provider.base import Attempt
from toolorchestra.provider.classify import has_error
from toolorchestra.provider.connection import Connection
from toolorchestra.provider.exchange import Question, exchange
from toolorchestra.types import Json, Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class WebHit:
    """A page that was found."""

    title: str
    url: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WebHits:
    """What a search found, best first."""

    hits: tuple[WebHit, ...]
    latency_s: float
    """Service time of the attempt that was answered."""
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchApi:
    """How one provider is asked, and where its hits stand."""

    ask: Callable[[httpx2.AsyncClient, str, str, str, str, int], httpx2.Request]
    """Takes the client, address, key, variant, query and largest number of hits."""
    hits: Callable[[Mapping[str, Any]], list[WebHit]]
    """Reads a body; raises KeyError or TypeError where it is none."""


def _ask_tavily(
    client: httpx2.AsyncClient, url: str, key: str, variant: str, query: str, top_k: int
) -> httpx2.Request:
    return client.build_request(
        "POST",
        f"{url}/search",
        json={"query": query, "max_results": top_k, "search_depth": variant},
        headers={"Authorization": f"Bearer {key}"},
    )


def _ask_searxng(
    client: httpx2.AsyncClient, url: str, key: str, variant: str, query: str, top_k: int
) -> httpx2.Request:
    del key, top_k  # it knows neither
    return client.build_request(
        "GET", f"{url}/search", params={"q": query, "format": "json", "categories": variant}
    )


def _results(body: Mapping[str, Any]) -> list[WebHit]:
    """Both call their hits the same."""
    return [
        WebHit(title=str(hit["title"]), url=str(hit["url"]), text=str(hit.get("content") or ""))
        for hit in body["results"]
    ]


SEARCH_APIS: Mapping[str, SearchApi] = {
    "tavily": SearchApi(ask=_ask_tavily, hits=_results),
    "searxng": SearchApi(ask=_ask_searxng, hits=_results),
}


class SearchClient:
    """One search of one provider."""

    def __init__(self, connection: Connection, variant: str) -> None:
        """Sends nothing yet.

        Args:
            connection: The provider.
            variant: What kind of search, as the provider calls it: Tavily's search_depth,
                SearXNG's category.
        """
        self._connection, self._variant = connection, variant
        self._api = SEARCH_APIS[connection.config.api]

    async def search(self, query: str, *, top_k: int, deadline_s: float) -> WebHits:
        """Finds at most `top_k` pages.

        Raises:
            ProviderFault: There is no answer.
        """
        asked: Json = {"query": query, "top_k": top_k, "variant": self._variant}
        return await self._connection.cassette.through(
            WebHits,
            {"provider": self._connection.name, "request": asked},
            lambda: self._ask(query, top_k, deadline_s),
        )

    async def _ask(self, query: str, top_k: int, deadline_s: float) -> WebHits:
        question = Question(
            send=lambda url: self._send(url, query, top_k),
            read=self._read,
            usage=lambda response, hits: Usage(num_requests=1),
            tokens=0,
            model=self._variant,
        )
        hits, attempts = await exchange(self._connection, question, deadline_s=deadline_s)
        return WebHits(
            hits=tuple(hits[:top_k]), latency_s=attempts[-1].latency_s, attempts=attempts
        )

    async def _send(self, url: str, query: str, top_k: int) -> httpx2.Response:
        http, key = self._connection.http, self._connection.key
        return await http.send(self._api.ask(http, url, key, self._variant, query, top_k))

    def _read(self, response: httpx2.Response) -> list[WebHit]:
        connection = self._connection
        if response.status_code >= 400:
            raise connection.fault_of(response)
        try:
            body = response.json()
            if not has_error(body):
                return self._api.hits(body)
        except (ValueError, KeyError, TypeError, AttributeError):
            start = response.text[:100]
            raise connection.fault(f"an answer without results: {start!r}") from None
        raise connection.fault_of(response)
