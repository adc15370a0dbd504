"""Case C32: fewer hits than were asked for are never filled up with others."""

import numpy as np
import pytest

from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.vectors import (
    build_index,
    read_index,
    resolve,
    search_all,
    search_among,
    write_index,
)

KINDS = [
    IndexConfig(kind=kind, precision=precision)
    for kind in ("flat", "ivf", "hnsw")
    for precision in ("float32", "float16")
]


def unit(count, dimension=16, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def made(tmp_path, vectors, config):
    config = resolve(config, num_vectors=len(vectors))
    write_index(tmp_path, build_index(vectors, config))
    return read_index(tmp_path, config)


@pytest.mark.parametrize("config", KINDS, ids=lambda c: f"{c.kind}-{c.precision}")
def test_the_nearest_come_first_by_inner_product(tmp_path, config):
    vectors = unit(500)
    index = made(tmp_path, vectors, config)
    for row, hits in enumerate(search_all(index, vectors[:20], top_k=3)):
        assert hits[0][0] == row
        assert hits[0][1] == pytest.approx(1.0, abs=2e-3)
        assert [score for _, score in hits] == sorted((s for _, s in hits), reverse=True)


@pytest.mark.parametrize("config", KINDS, ids=lambda c: f"{c.kind}-{c.precision}")
def test_ten_hits_of_three_vectors_are_three_real_ones(tmp_path, config):
    index = made(tmp_path, unit(3), config)
    for query in (unit(1, seed=5), np.zeros((1, 16), dtype=np.float32)):
        (hits,) = search_all(index, query, top_k=10)
        assert sorted(row for row, _ in hits) == [0, 1, 2]
        assert np.isfinite([score for _, score in hits]).all()


def test_lists_that_are_not_looked_into_leave_fewer_hits_and_no_row_of_minus_one(tmp_path):
    index = made(tmp_path, unit(3), IndexConfig(kind="ivf", nlist=3, nprobe=1))
    (hits,) = search_all(index, unit(1, seed=5), top_k=10)
    assert len(hits) == 1
    assert hits[0][0] in (0, 1, 2) and np.isfinite(hits[0][1])


@pytest.mark.parametrize("top_k", [0, -1])
def test_no_hits_are_given_where_none_are_wanted(tmp_path, top_k):
    index = made(tmp_path, unit(3), IndexConfig(kind="flat"))
    assert search_all(index, unit(2), top_k=top_k) == [[], []]


@pytest.mark.parametrize("config", KINDS, ids=lambda c: f"{c.kind}-{c.precision}")
def test_some_rows_are_searched_exactly_whatever_the_index(tmp_path, config):
    vectors, query = unit(500), unit(1, seed=5)[0]
    index = made(tmp_path, vectors, config)
    rows = np.array([3, 77, 200, 499])
    hits = search_among(index, query, rows, top_k=3)
    expected = sorted(rows, key=lambda row: -float(vectors[row] @ query))[:3]
    assert [row for row, _ in hits] == expected
    assert [score for _, score in hits] == pytest.approx(
        [float(vectors[row] @ query) for row in expected], abs=2e-3
    )
    assert search_among(index, query, rows[:0], top_k=3) == []


def test_half_precision_takes_half_of_the_room(tmp_path):
    for precision in ("float32", "float16"):
        (tmp_path / precision).mkdir()
        made(tmp_path / precision, unit(2000), IndexConfig(kind="flat", precision=precision))
    sizes = [(tmp_path / name / "index.faiss").stat().st_size for name in ("float32", "float16")]
    assert sizes[1] == pytest.approx(sizes[0] / 2, rel=0.01)


@pytest.mark.parametrize(("count", "nlist"), [(1, 1), (100, 2), (10_000, 256), (1_000_000, 4000)])
def test_the_number_of_lists_follows_the_number_of_vectors(count, nlist):
    assert resolve(IndexConfig(kind="ivf"), num_vectors=count).nlist == nlist


def test_more_lists_than_vectors_are_refused():
    with pytest.raises(ValueError, match="index.nlist: 4 is not allowed for 3 passages"):
        resolve(IndexConfig(kind="ivf", nlist=4), num_vectors=3)


def test_a_file_of_another_kind_or_none_at_all_is_refused(tmp_path):
    made(tmp_path, unit(3), IndexConfig(kind="flat"))
    with pytest.raises(ValueError, match="is a IndexFlatIP, but the manifest says hnsw"):
        read_index(tmp_path, IndexConfig(kind="hnsw"))
    (tmp_path / "index.faiss").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="cannot be read by Faiss"):
        read_index(tmp_path, IndexConfig(kind="flat"))


def test_an_index_is_the_same_at_every_build():
    config = IndexConfig(kind="ivf", nlist=8, nprobe=2)
    first, second = (build_index(unit(500), config) for _ in range(2))
    queries = unit(10, seed=3)
    assert search_all(first, queries, top_k=5) == search_all(second, queries, top_k=5)
