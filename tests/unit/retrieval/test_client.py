import asyncio
import json
import time
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.unit.retrieval.scene import built, documents, serving

from toolorchestra.process import free_port
from toolorchestra.retrieval.client import InProcess, Remote
from toolorchestra.retrieval.fault import RetrievalFault
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.record import Query
from toolorchestra.retrieval.request import Limits

QUERY = Query(text="mayor of Kelbis", top_k=2, allowed=("d0", "d1", "d2"))
GOOD = json.dumps({"results": [[]]})


@asynccontextmanager
async def answering(*answers):
    """A server that gives these answers in turn, the last one for ever: (status, text)."""
    given = []

    async def answer(request):
        status, text = answers[min(len(given), len(answers) - 1)]
        given.append(status)
        return web.Response(status=status, text=text)

    application = web.Application()
    application.router.add_post("/search", answer)
    server = TestServer(application)
    await server.start_server()
    try:
        yield str(server.make_url("")), given
    finally:
        await server.close()


async def ask(url, *, deadline_s=30.0):
    client = Remote(url=url, deadline_s=deadline_s)
    try:
        return await client.search(QUERY)
    finally:
        await client.close()


async def test_a_server_and_this_process_give_the_same_hits(tmp_path):
    folder = built(tmp_path / "index", documents(20))
    here = InProcess(open_index(folder))
    async with serving(folder) as (url, _):
        assert await ask(f"{url}/") == await here.search(QUERY)
    await here.close()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_fault_is_tried_again(status):
    async with answering((status, "busy"), (status, "busy"), (200, GOOD)) as (url, given):
        assert await ask(url) == ()
        assert given == [status, status, 200]


async def test_a_fault_that_lasts_ends_at_the_deadline_with_the_reason():
    async with answering((503, '{"error": "too busy"}')) as (url, given):
        begun = time.monotonic()
        with pytest.raises(RetrievalFault, match="no search within 0.5 s: status 503: too busy"):
            await ask(url, deadline_s=0.5)
        assert time.monotonic() - begun < 10 and len(given) > 1


async def test_a_server_that_is_not_there_is_a_fault_too():
    with pytest.raises(RetrievalFault, match="no search within 0.3 s: "):
        await ask(f"http://127.0.0.1:{free_port()}", deadline_s=0.3)


async def test_a_server_that_never_answers_is_given_up_at_the_deadline():
    async def hold(reader, writer):
        await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(RetrievalFault, match="gave no answer in time"):
        await ask(f"http://127.0.0.1:{port}", deadline_s=0.3)
    server.close()


@pytest.mark.parametrize(
    "text", ["<html>", "[]", "{}", '{"results": []}', '{"results": [[{"id": 3}]]}', "null"]
)
async def test_an_answer_of_another_program_is_a_fault_at_once(text):
    async with answering((200, text)) as (url, given):
        with pytest.raises(RetrievalFault, match="the server's answer cannot be read"):
            await ask(url)
        assert len(given) == 1


async def test_a_refusal_is_not_tried_again(tmp_path):
    folder = built(tmp_path / "index")
    async with serving(folder, limits=Limits(max_top_k=1)) as (url, _):
        with pytest.raises(RetrievalFault, match="refused the search: top_k must be .* 1 to 1"):
            await ask(url)


async def test_a_service_that_nobody_announced_is_named(tmp_path):
    client = Remote(service="search", registry=tmp_path / "servers", deadline_s=0.3)
    with pytest.raises(RetrievalFault, match="no server of search in .*servers within"):
        await client.search(QUERY)
    await client.close()
