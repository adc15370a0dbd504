"""Searches of the web: what is asked in each provider's way, and what is no answer."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.unit.tool.local_world import make_context

from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.providers import Providers
from toolorchestra.provider.search import SearchClient, WebHit
from toolorchestra.tool.web_config import WebConfig
from toolorchestra.tool.web_search import NOTHING_FOUND, WebSearch

KEY = "tvly-a-key-that-must-not-leak"
PAGES = [
    {"title": "Hamlet", "url": "http://a", "content": "By Shakespeare. " * 9, "score": 0.9},
    {"title": "Ghosts", "url": "http://b", "content": None},
    {"title": "More", "url": "http://c", "content": "x"},
]


@asynccontextmanager
async def search(monkeypatch, *replies, api="tavily"):
    """A client, and the requests that its provider got; replies are (status, body)."""
    monkeypatch.setenv("A_KEY", KEY)
    asked = []

    async def answer(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        asked.append((request.method, request.path, dict(request.query), body, request.headers))
        status, reply = replies[min(len(asked), len(replies)) - 1]
        if isinstance(reply, str):
            return web.Response(status=status, text=reply, content_type="application/json")
        return web.json_response(reply, status=status)

    app = web.Application()
    app.router.add_route("*", "/search", answer)
    server = TestServer(app)
    await server.start_server()
    config = ProviderConfig(
        api=api,
        base_url=f"http://{server.host}:{server.port}",
        key_env="A_KEY",
        models={"a search": "basic"},
        retry_first_s=0.001,
    )
    providers = Providers(ProvidersConfig(name="t", providers={"acme": config}))
    try:
        yield SearchClient(*providers.connection("a search", wanted_by="a test")), asked
    finally:
        await providers.close()
        await server.close()


async def test_tavily_is_asked_by_its_api_and_its_hits_are_read(monkeypatch):
    async with search(monkeypatch, (200, {"results": PAGES})) as (client, asked):
        found = await client.search("ghost play", top_k=2, deadline_s=10.0)
    ((method, path, _, body, headers),) = asked
    assert (method, path) == ("POST", "/search")
    assert body == {"query": "ghost play", "max_results": 2, "search_depth": "basic"}
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert found.hits == (
        WebHit(title="Hamlet", url="http://a", text="By Shakespeare. " * 9),
        WebHit(title="Ghosts", url="http://b", text=""),
    )
    assert len(found.attempts) == 1 and found.latency_s > 0


async def test_searxng_is_asked_by_its_api_and_never_shown_a_key(monkeypatch):
    replies = [(200, {"results": PAGES})]
    async with search(monkeypatch, *replies, api="searxng") as (client, asked):
        found = await client.search("ghost play", top_k=1, deadline_s=10.0)
    ((method, _, query, _, headers),) = asked
    assert method == "GET" and query == {"q": "ghost play", "format": "json", "categories": "basic"}
    assert [hit.title for hit in found.hits] == ["Hamlet"]
    assert KEY not in str(headers)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"detail": {"error": f"Unauthorized: {KEY}"}}, "auth"),
        (432, {"detail": {"error": "plan limit exceeded"}}, "refused"),
        (400, {"detail": "query is too long"}, "refused"),
    ],
)
async def test_a_search_that_is_refused_is_a_fault_without_a_key_in_it(
    monkeypatch, status, body, kind
):
    async with search(monkeypatch, (status, body)) as (client, asked):
        with pytest.raises(ProviderFault) as caught:
            await client.search("x", top_k=1, deadline_s=10.0)
    assert caught.value.kind == kind and len(asked) == 1 and KEY not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        (500, "oops"),
        (429, {"detail": "slow down"}),
        (200, "no json"),
        (200, {"answer": "4"}),
        (200, {"results": None}),
        (200, {"results": ["http://a"]}),
        (200, {"results": [{"title": "no address"}]}),
        (200, []),
        (200, {"error": "busy"}),
    ],
)
async def test_what_is_no_answer_is_asked_for_again(monkeypatch, bad):
    async with search(monkeypatch, bad, (200, {"results": []})) as (client, asked):
        found = await client.search("x", top_k=1, deadline_s=10.0)
    assert found.hits == () and len(asked) == 2 and len(found.attempts) == 2


async def called(client, arguments, question="Who?", **options):
    tool = WebSearch("web", client=client, options=WebConfig(**options), deadline_s=5.0)
    return await tool.call(arguments, make_context(question))


async def test_the_tool_shows_title_address_and_text_cut_to_length(monkeypatch):
    async with search(monkeypatch, (200, {"results": PAGES})) as (client, asked):
        result = await called(client, {"query": "play"}, top_k=2, max_hit_chars=15)
    assert result.content == "Hamlet\nhttp://a\nBy Shakespeare.\n\nGhosts\nhttp://b\n"
    assert result.status == "ok" and result.usage.num_requests == 1 and result.latency_s > 0
    assert asked[0][3]["query"] == "play"


async def test_the_tool_searches_for_the_question_where_nothing_is_asked(monkeypatch):
    async with search(monkeypatch, (200, {"results": []})) as (client, asked):
        result = await called(client, {}, question="Who? " * 200)
    assert (result.content, result.status) == (NOTHING_FOUND, "abstained")
    assert len(asked[0][3]["query"]) == 400  # Tavily takes no more


async def test_a_query_that_is_too_long_is_the_policys_fault_and_is_not_sent(monkeypatch):
    async with search(monkeypatch, (200, {"results": []})) as (client, asked):
        result = await called(client, {"query": "x" * 401})
    assert result.status == "policy_error" and "400 characters" in result.content and not asked


async def test_a_fault_of_the_provider_voids_the_rollout(monkeypatch):
    async with search(monkeypatch, (401, {})) as (client, _):
        result = await called(client, {"query": "x"})
    assert result.status == "provider_error" and result.usage.num_requests == 1
