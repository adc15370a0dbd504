"""The workload of `benchmarks/retrieval`: it is the same each time, and its recall is one."""

import json

import numpy as np
import pytest
from benchmarks.retrieval.corpus import Writer, write_corpus
from benchmarks.retrieval.recall import measure
from benchmarks.retrieval.throughput import searches_a_second
from tests.unit.retrieval.scene import built, serving

from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.vectors import build_index


def test_the_same_seed_writes_the_same_corpus(tmp_path):
    for name in "ab":
        write_corpus(tmp_path / name, Writer(seed=0), count=20)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert (tmp_path / "a").read_text().count("\n") == 20


def test_an_index_that_is_searched_whole_finds_all_and_one_that_is_not_finds_less():
    vectors = np.random.default_rng(0).normal(size=(500, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    flat = build_index(vectors, IndexConfig(kind="flat"))
    some, whole = measure(flat, vectors[:20], IndexConfig(kind="ivf", nlist=8), (1, 8))
    assert whole.share == 1.0 > some.share > 0.1
    assert whole.label == "IVF, 8 of 8 lists"


@pytest.mark.parametrize("num_clients", [1, 8])
async def test_clients_make_as_many_searches_as_they_are_told_to(tmp_path, num_clients):
    write_corpus(tmp_path / "docs.jsonl", Writer(seed=0), count=20)
    rows = [json.loads(line) for line in (tmp_path / "docs.jsonl").read_text().splitlines()]
    asked = []
    async with serving(built(tmp_path / "index", rows)) as (url, batcher):
        search = batcher.index.search
        batcher.index.search = lambda queries: asked.extend(queries) or search(queries)
        rate = await searches_a_second(url, ["one", "two"], num_clients=num_clients, num_searches=9)
    assert rate > 0
    assert sorted(query.text for query in asked) == ["one"] * 5 + ["two"] * 4
