import math
import threading

import pytest

from toolorchestra.retrieval.hashed import HashedEncoder
from toolorchestra.tool.fact_index import ENCODERS, Document, FactIndex, load_index

NAMES = ["Velmor", "Kelbis", "Tardun"]


def make_index(count):
    documents = [
        Document(
            sentence=f"The mayor of {name} is X{i}.",
            answer=f"X{i}",
            subject=f"The mayor of {name} is .",
        )
        for i, name in enumerate(NAMES[:count])
    ]
    return FactIndex(documents, HashedEncoder([document.subject for document in documents]))


@pytest.mark.parametrize("query", ["mayor of Velmor", "", "zzz", "?"])
def test_ten_hits_of_three_documents_are_three_real_ones(query):
    hits = make_index(3).search(query, top_k=10)
    assert len(hits) == 3
    assert len({hit.document.answer for hit in hits}) == 3  # no -1, which would be the last again
    assert all(math.isfinite(hit.score) for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("top_k", [0, -1])
def test_no_hits_are_given_where_none_are_wanted(top_k):
    assert make_index(3).search("mayor of Velmor", top_k=top_k) == ()


def test_an_empty_index_finds_nothing():
    assert make_index(0).search("mayor of Velmor", top_k=3) == ()


def test_the_best_hit_comes_first():
    assert make_index(3).search("Who is the mayor of Kelbis?", top_k=1)[0].document.answer == "X1"


def test_the_index_is_built_once_in_a_process():
    assert load_index("wiki", "hashed") is load_index("wiki", "hashed")


@pytest.mark.parametrize(
    ("corpus", "encoder", "message"),
    [
        ("wikipedia", "hashed", r"options\.corpus: 'wikipedia' is not allowed; use wiki"),
        ("wiki", "bert", r"options\.encoder: 'bert' is not allowed; use hashed"),
    ],
)
def test_unknown_names_are_refused_with_those_that_exist(corpus, encoder, message):
    with pytest.raises(ValueError, match=message):
        load_index(corpus, encoder)


def test_threads_that_search_at_once_find_what_one_finds():
    index = load_index("wiki", "hashed")
    queries = ["mayor", "river", "population", "museum"] * 5
    expected = [index.search(query, top_k=3) for query in queries]
    found = [[] for _ in range(4)]

    def search(slot):
        found[slot].extend(index.search(query, top_k=3) for query in queries)

    threads = [threading.Thread(target=search, args=(slot,)) for slot in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected for result in found)


def test_a_new_encoder_is_one_line(monkeypatch):
    monkeypatch.setitem(ENCODERS, "other", HashedEncoder)
    (hit,) = load_index("wiki", "other").search("Who is the mayor of Velmor?", top_k=1)
    (same,) = load_index("wiki", "hashed").search("Who is the mayor of Velmor?", top_k=1)
    assert hit == same
