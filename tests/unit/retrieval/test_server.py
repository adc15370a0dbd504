import asyncio
import json
import shutil

import aiohttp
import pytest
from tests.unit.retrieval.scene import built, config_of, documents, serving, until

from toolorchestra.retrieval.build import build
from toolorchestra.retrieval.request import Limits


async def post(url, path="/search", *, data=None, **fields):
    content = json.dumps(fields).encode() if data is None else data
    async with aiohttp.ClientSession() as http, http.post(url + path, data=content) as answer:
        return answer.status, await answer.json()


async def get(url, path):
    async with aiohttp.ClientSession() as http, http.get(url + path) as answer:
        return answer.status, await answer.json()


@pytest.fixture
def folder(tmp_path):
    return built(tmp_path / "index", documents(20))


async def test_a_search_gives_the_hits_of_each_query(folder):
    async with serving(folder) as (url, _):
        status, found = await post(url, queries=["mayor of Kelbis", "Tardun"], top_k=2)
        assert status == 200
        first, second = found["results"]
        assert [len(first), len(second)] == [2, 2]
        assert first[0] == {
            "id": "d1",
            "document": "d1",
            "title": "Kelbis",
            "text": "The mayor of Kelbis is Xa1.",
            "score": first[0]["score"],
        }
        assert 0 < first[0]["score"] <= 1 and second[0]["id"] == "d2"
        status, found = await post(url, queries=["Kelbis"], top_k=5, allowed=["d2", "d7"])
        assert {hit["id"] for hit in found["results"][0]} == {"d2", "d7"}


async def test_health_and_manifest_tell_what_is_served(folder):
    async with serving(folder) as (url, _):
        assert await get(url, "/health") == (200, {"status": "ok", "num_passages": 20})
        status, told = await get(url, "/manifest")
        assert (status, told) == (200, json.loads((folder / "manifest.json").read_text()))


async def test_a_bad_request_is_400_and_one_that_is_too_large_413_and_both_say_why(folder):
    limits = Limits(max_body_bytes=500, max_queries=2, max_top_k=9)
    async with serving(folder, limits=limits) as (url, _):
        for fields, reason in (
            ({"queries": ["a"] * 3, "top_k": 1}, "queries holds 3; at most 2 are allowed"),
            ({"queries": ["a"], "top_k": 10}, "top_k must be a whole number from 1 to 9; got 10"),
        ):
            assert await post(url, **fields) == (400, {"error": reason})
        status, told = await post(url, data=b"{")
        assert status == 400 and told["error"].startswith("the body is no JSON")
        too_large = (413, {"error": "the body is too large; at most 500 bytes are allowed"})
        assert await post(url, queries=["x" * 500], top_k=1) == too_large

        async def chunks():  # whose length nobody says beforehand
            for _ in range(50):
                yield b"x" * 100

        assert await post(url, data=chunks()) == too_large
        assert (await post(url, queries=["Kelbis"], top_k=1))[0] == 200


async def test_concurrent_requests_are_searched_in_few_batches_each_with_its_own_answer(folder):
    async with serving(folder, max_batch=16, max_wait_s=0.2) as (url, batcher):
        answers = await asyncio.gather(
            *(post(url, queries=[f"mayor of Town{i % 17 + 3}"], top_k=1) for i in range(64))
        )
        for i, (status, found) in enumerate(answers):
            assert status == 200 and found["results"][0][0]["id"] == f"d{i % 17 + 3}"
        assert batcher.num_batches < 32


async def test_searches_go_on_while_another_index_is_loaded_and_then_find_in_it(folder):
    async with serving(folder) as (url, _):
        build(config_of(folder, documents(30), overwrite=True))
        is_over, statuses = asyncio.Event(), []

        async def keep_searching():
            while not is_over.is_set():
                statuses.append((await post(url, queries=["Town25"], top_k=1))[0])

        searching = asyncio.create_task(keep_searching())
        await until(lambda: statuses)
        assert await post(url, "/reload") == (200, {"status": "ok", "num_passages": 30})
        is_over.set()
        await searching
        assert set(statuses) == {200}
        status, found = await post(url, queries=["mayor of Town25"], top_k=1)
        assert found["results"][0][0]["id"] == "d25"


async def test_a_reload_that_fails_keeps_the_old_index_and_says_so(folder):
    async with serving(folder) as (url, _):
        shutil.rmtree(folder)
        status, told = await post(url, "/reload")
        assert status == 409
        assert told["error"].startswith("not reloaded, and the old index goes on: ")
        assert "manifest.json is missing" in told["error"]
        status, found = await post(url, queries=["Kelbis"], top_k=1)
        assert found["results"][0][0]["id"] == "d1"
