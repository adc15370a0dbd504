import json
import os
import signal
import subprocess
import sys

import pytest
from tests.unit.retrieval.scene import NAMES, built, config_of, documents

from toolorchestra.retrieval.build import build
from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.record import Query


def nearest(folder, text):
    return open_index(folder).search([Query(text=text, top_k=1)])[0][0]


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_what_was_built_finds_the_passage_that_a_question_is_about(tmp_path, kind):
    folder = built(tmp_path / "index", index=IndexConfig(kind=kind))
    for i, name in enumerate(NAMES):
        hit = nearest(folder, f"Who is the mayor of {name}?")
        assert (hit.id, hit.document, hit.title) == (f"d{i}", f"d{i}", name)
        assert hit.text == f"The mayor of {name} is Xa{i}."


def test_long_documents_become_several_passages_of_one_document(tmp_path):
    text = "".join(f"Sentence number {i} is about Zed{i}. " for i in range(20))
    manifest = build(config_of(tmp_path / "index", [{"id": "long", "text": text}], max_chars=100))
    assert manifest.num_documents == 1
    assert manifest.num_passages > 5
    hit = nearest(tmp_path / "index", "Zed17")
    assert hit.document == "long" and hit.id.startswith("long#") and "Zed17" in hit.text


def test_the_manifest_names_all_that_went_in(tmp_path):
    folder = built(tmp_path / "index", index=IndexConfig(kind="ivf", nprobe=1))
    told = json.loads((folder / "manifest.json").read_text())
    assert (told["format"], told["num_documents"], told["num_passages"]) == (1, 3, 3)
    assert (told["encoder"]["kind"], told["dimension"]) == ("hashed", 4096)
    assert (told["index"]["kind"], told["index"]["nlist"], told["index"]["nprobe"]) == ("ivf", 1, 1)
    files = {path.name for path in folder.iterdir()} - {"manifest.json"}
    assert set(told["files"]) == files == {
        "idf.npy", "index.faiss", "keys.npy", "passages.arrow", "probe.npy"
    }  # fmt: skip


def test_the_same_corpus_has_the_same_hash_and_another_one_another(tmp_path):
    hashes = [
        build(config_of(tmp_path / f"index{i}", documents(count))).corpus_sha256
        for i, count in enumerate((3, 3, 4))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "holds no text"),
        ([{"id": "a", "text": "  "}], "holds no text"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "the id 'a' occurs twice"),
        ([{"id": "a", "text": "x"}, {"id": "b"}], "key 'text' is missing"),
    ],
)
def test_a_corpus_that_cannot_be_indexed_leaves_nothing_behind(tmp_path, rows, message):
    (tmp_path / "place").mkdir()
    config = config_of(tmp_path / "place" / "index", rows)
    with pytest.raises(ValueError, match=message):
        build(config)
    assert [path.name for path in (tmp_path / "place").iterdir()] == ["index.jsonl"]


def test_an_index_is_replaced_only_on_request_and_other_folders_never(tmp_path):
    folder = built(tmp_path / "index")
    with pytest.raises(ValueError, match="an index lies there; use a new folder, or overwrite"):
        build(config_of(folder, documents(4)))
    assert open_index(folder).manifest.num_passages == 3
    build(config_of(folder, documents(4), overwrite=True))
    assert open_index(folder).manifest.num_passages == 4
    (tmp_path / "mine").mkdir()
    with pytest.raises(ValueError, match="as it exists; use a new folder"):
        build(config_of(tmp_path / "mine", overwrite=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "index", "index.jsonl", "mine", "mine.jsonl"
    ]  # fmt: skip


def test_a_build_that_is_killed_leaves_nothing_that_looks_complete(tmp_path):
    pipe = tmp_path / "docs.jsonl"
    os.mkfifo(pipe)  # whose reader waits for more for ever
    process = subprocess.Popen(
        [sys.executable, "-m", "toolorchestra.retrieval", "build", "corpus=jsonl"]
        + [f"corpus.path={pipe}", f"out={tmp_path / 'index'}"],
        stderr=subprocess.DEVNULL,
    )
    try:
        with pipe.open("w") as file:  # opens once the reader does: the build is under way
            file.write('{"id": "a", "text": "x"}\n')
            file.flush()
            process.send_signal(signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
    finally:
        process.kill()
    assert not (tmp_path / "index").exists()
    (aside,) = tmp_path.glob(".index.building-*")
    with pytest.raises(ValueError, match="is no complete index: manifest.json is missing"):
        open_index(aside)
