import numpy as np
import pytest

from toolorchestra.retrieval.record import Passage
from toolorchestra.retrieval.store import BATCH_ROWS, PassageStore, PassageWriter


def passage(i):
    return Passage(id=f"d{i // 2}#{i % 2}", document=f"d{i // 2}", title=f"T{i}", text=f"ü {i}")


def written(folder, count):
    with PassageWriter(folder) as writer:
        for i in range(count):
            writer.add(passage(i))
    return PassageStore(folder), writer


@pytest.mark.parametrize("count", [0, 1, BATCH_ROWS, BATCH_ROWS + 1])
def test_passages_are_read_back_by_row(tmp_path, count):
    store, writer = written(tmp_path, count)
    assert len(store) == writer.num_passages == count
    for row in {0, count // 2, count - 1} & set(range(count)):
        assert store[row] == passage(row)
    assert list(store.encoded_texts()) == [passage(i).encoded for i in range(count)]


def test_rows_are_found_by_the_ids_of_documents_and_unknown_ids_add_none(tmp_path):
    store, _ = written(tmp_path, 2000)
    assert store.rows_of(["d7", "d0", "d7", "nobody"]).tolist() == [0, 1, 14, 15]
    assert store.rows_of(["nobody"]).tolist() == store.rows_of([]).tolist() == []
    assert store.rows_of(["d999"]).dtype == np.int64


def test_the_hash_is_of_content_and_order(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
    same = {written(tmp_path / name, 5)[1].sha256 for name in "ab"}
    assert len(same) == 1
    assert written(tmp_path / "c", 4)[1].sha256 not in same


def test_damaged_passages_are_refused(tmp_path):
    written(tmp_path, 5)
    (tmp_path / "passages.arrow").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="the passages are damaged"):
        PassageStore(tmp_path)
