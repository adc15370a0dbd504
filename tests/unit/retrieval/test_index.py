import json
import math
import threading

import numpy as np
import pytest
from tests.unit.retrieval.scene import built, documents

from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.record import Query

MAYOR = "Who is the mayor of Velmor?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return built(tmp_path_factory.mktemp("index") / "index", documents(50))


def change_manifest(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    "index",
    [
        IndexConfig(kind="flat"),
        IndexConfig(kind="ivf", nlist=3, nprobe=1),
        IndexConfig(kind="hnsw"),
    ],
    ids=lambda index: index.kind,
)
@pytest.mark.parametrize("query", [MAYOR, "", "zzz", "?", "\ud800"])
def test_ten_hits_of_three_documents_are_real_ones(tmp_path, index, query):
    hits = open_index(built(tmp_path / "index", index=index)).search([Query(text=query, top_k=10)])
    ids = [hit.id for hit in hits[0]]
    assert 1 <= len(ids) <= 3 and len(set(ids)) == len(ids)
    assert index.kind == "ivf" or len(ids) == 3
    assert all(math.isfinite(hit.score) for hit in hits[0])


def test_queries_that_are_searched_at_once_find_what_each_finds_alone(folder):
    index = open_index(folder)
    queries = [
        Query(text=MAYOR, top_k=2),
        Query(text="Kelbis", top_k=5),
        Query(text="Tardun", top_k=1, allowed=("d0", "d2")),
        Query(text=MAYOR, top_k=0),
        Query(text=MAYOR, top_k=3, allowed=()),
    ]
    together = index.search(queries)
    assert [len(hits) for hits in together] == [2, 5, 1, 0, 0]
    for query, hits in zip(queries, together, strict=True):
        (alone,) = index.search([query])
        assert [hit.id for hit in alone] == [hit.id for hit in hits]
        np.testing.assert_allclose(
            [hit.score for hit in alone], [hit.score for hit in hits], atol=1e-6
        )
    assert index.search([]) == []


def test_only_allowed_documents_are_found_and_unknown_ids_allow_nothing(folder):
    index = open_index(folder)
    (hits,) = index.search([Query(text=MAYOR, top_k=10, allowed=("d1", "d9", "nobody"))])
    assert {hit.document for hit in hits} == {"d1", "d9"}
    assert index.search([Query(text=MAYOR, top_k=10, allowed=("nobody",))]) == [()]


def test_threads_that_search_at_once_find_what_one_finds(folder):
    index = open_index(folder)
    query = [Query(text=MAYOR, top_k=3), Query(text="Kelbis", top_k=2, allowed=("d0", "d1"))]
    expected, found = index.search(query), []
    threads = [
        threading.Thread(target=lambda: found.extend(index.search(query) for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80 and all(each == expected for each in found)


def test_a_folder_without_an_index_is_refused_with_the_command_that_builds_one(tmp_path):
    with pytest.raises(ValueError, match="manifest.json is missing; build one with python -m"):
        open_index(tmp_path / "absent")


@pytest.mark.parametrize("name", ["index.faiss", "passages.arrow", "idf.npy", "keys.npy"])
def test_a_file_that_is_missing_cut_or_changed_is_refused_by_name(tmp_path, name):
    path = built(tmp_path / "index") / name
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(ValueError, match=f"{name} has .* bytes, but the manifest says"):
        open_index(tmp_path / "index")
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ValueError, match=f"{name} is not what the manifest says"):
        open_index(tmp_path / "index")
    path.unlink()
    with pytest.raises(ValueError, match=f"the manifest names {name}, which is missing"):
        open_index(tmp_path / "index")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "has the format 2, but this version reads 1; build it anew"),
        ({"num_passages": 4}, "holds 3 passages, but the manifest says 4"),
        ({"dimension": 384}, "vectors have 4096 numbers, but the manifest says 384"),
        ({"encoder_fingerprint": "abc"}, "the encoder here is not the one that built it"),
        ({"surplus": 1}, "key 'surplus' is unknown"),
        ({"num_documents": "3"}, "num_documents: expected an integer"),
    ],
)
def test_a_manifest_that_does_not_fit_its_folder_is_refused(tmp_path, changes, message):
    folder = built(tmp_path / "index")
    change_manifest(folder, **changes)
    with pytest.raises(ValueError, match=message) as refusal:
        open_index(folder)
    assert "\n" not in str(refusal.value)


def test_a_manifest_of_another_kind_of_index_is_refused(tmp_path):
    folder = built(tmp_path / "index")
    fields = json.loads((folder / "manifest.json").read_text())
    change_manifest(folder, index=fields["index"] | {"kind": "hnsw"})
    with pytest.raises(ValueError, match="is a IndexFlatIP, but the manifest says hnsw"):
        open_index(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_a_damaged_manifest_is_refused(tmp_path, content):
    folder = built(tmp_path / "index")
    (folder / "manifest.json").write_text(content)
    with pytest.raises(ValueError, match=str(folder)):
        open_index(folder)
