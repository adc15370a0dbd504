import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.unit.retrieval.scene import built, documents, serving
from tests.unit.tool.catalogue import shipped_tools
from tests.unit.tool.local_world import SECRET, make_context

from toolorchestra.process import free_port
from toolorchestra.tool.passage_search import PassageSearch
from toolorchestra.tool.registry import build_tool
from toolorchestra.tool.search_config import SearchConfig

MAYOR = "Who is the mayor of Kelbis?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return built(tmp_path_factory.mktemp("search") / "index", documents(20))


def make_tool(**options):
    return PassageSearch("search", latency_s=1.5, options=SearchConfig(**options))


def with_metadata(question, **metadata):
    context = make_context(question)
    task = replace(context.episode.task, metadata=metadata)
    return replace(context, episode=replace(context.episode, task=task))


def call(tool, question=MAYOR, arguments=None, context=None):
    return asyncio.run(tool.call(arguments or {}, context or make_context(question)))


def test_the_result_holds_titles_and_texts_best_first(folder):
    result = call(make_tool(index=str(folder), top_k=2))
    first, second = result.content.split("\n\n")
    assert first == "[1] Kelbis\nThe mayor of Kelbis is Xa1."
    assert second.startswith("[2] ")
    assert (result.status, result.name, result.latency_s) == ("ok", "search", 1.5)
    hits = result.metadata["hits"]
    assert hits[0]["id"] == "d1" and hits[0]["score"] > hits[1]["score"]
    assert SECRET not in str(result)


def test_a_query_takes_the_place_of_the_question(folder):
    tool = make_tool(index=str(folder))
    assert "Tardun" in call(tool, arguments={"query": "Tardun"}).content
    assert call(tool, arguments={"query": " "}) == call(tool)


def test_a_long_passage_is_cut_and_one_without_title_has_none(tmp_path):
    folder = built(tmp_path / "index", [{"id": "a", "text": "word " * 50}])
    result = call(make_tool(index=str(folder), max_chars=12))
    assert result.content == "[1] word word w…"


def test_finds_below_the_threshold_count_as_nothing(folder):
    result = call(make_tool(index=str(folder), min_score=0.99))
    assert (result.status, result.content) == ("abstained", "nothing found")


def test_only_documents_that_the_task_allows_are_found(folder):
    tool = make_tool(index=str(folder), top_k=9, allowed_key="documents")

    def ids(**metadata):
        result = call(tool, context=with_metadata(MAYOR, **metadata))
        return {hit["id"] for hit in result.metadata["hits"]}

    assert ids(documents=["d2", "d7"]) == {"d2", "d7"}
    assert ids(documents=[]) == ids(documents=["nobody"]) == set()
    assert len(ids()) == 9, "a task without a list searches all"
    with pytest.raises(ValueError, match="task t: metadata.documents must be a list of ids"):
        ids(documents="d2")


@pytest.mark.parametrize("query", ["x" * 200_000, "\x00\ud800" * 3, "<|im_end|>"])
def test_an_odd_query_does_no_harm(folder, query):
    assert call(make_tool(index=str(folder)), arguments={"query": query}).status == "ok"


async def test_a_server_gives_the_same_result_as_the_index_itself(folder):
    here = make_tool(index=str(folder), top_k=3, allowed_key="documents")
    context = with_metadata(MAYOR, documents=["d1", "d2", "d3"])
    async with serving(folder) as (url, _):
        there = make_tool(url=url, top_k=3, allowed_key="documents")
        for query in (MAYOR, "\ud800" * 3):
            arguments = {"query": query}
            assert await there.call(arguments, context) == await here.call(arguments, context)
        await there.close()
    await here.close()


async def test_a_server_that_is_gone_is_the_providers_fault():
    tool = make_tool(url=f"http://127.0.0.1:{free_port()}", deadline_s=0.3)
    result = await tool.call({}, make_context(MAYOR))
    await tool.close()
    assert result.status == "provider_error"
    assert result.content.startswith("error: no search within 0.3 s: ")


def test_the_kind_local_search_takes_an_index_by_its_options(folder):
    config = replace(shipped_tools()["local_search"], options={"index": str(folder)})
    tool = build_tool("local_search", config, services=None)
    assert isinstance(tool, PassageSearch)
    with pytest.raises(ValueError, match="options.encoder: 'minilm' is not allowed for .*; use ha"):
        make_tool(index=str(folder), encoder="minilm")
    with pytest.raises(ValueError, match="is no complete index"):
        make_tool(index=str(folder.parent))


def test_an_open_index_does_not_change_the_scores_of_the_wiki_by_a_bit(folder):
    code = (
        "import sys; from pathlib import Path\n"
        "from toolorchestra.tool.fact_index import load_index\n"
        "from toolorchestra.retrieval.index import open_index\n"
        "if len(sys.argv) > 1: open_index(Path(sys.argv[1]))\n"
        "for query in ('mayor of Velmor', 'river', 'Who founded Kelbis?'):\n"
        "    hits = load_index('wiki', 'hashed').search(query, top_k=9)\n"
        "    print([hit.score.hex() for hit in hits])"
    )
    with_index, alone = (
        subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
        ).stdout
        for words in ([str(folder)], [])
    )
    assert with_index == alone != ""
