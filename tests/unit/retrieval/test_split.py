import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolorchestra.retrieval.record import Document
from toolorchestra.retrieval.split import split


def pieces(text, max_chars=40, overlap_chars=0):
    passages = split(
        Document(id="d", title="T", text=text), max_chars=max_chars, overlap_chars=overlap_chars
    )
    return [passage.text for passage in passages]


def test_a_short_document_is_one_passage_of_its_own_id():
    (passage,) = split(Document(id="d", title="T", text=" Short. "), max_chars=40, overlap_chars=0)
    assert (passage.id, passage.document, passage.title, passage.text) == ("d", "d", "T", "Short.")
    assert passage.encoded == "T\nShort."


def test_later_passages_are_numbered_and_keep_the_title():
    passages = split(Document(id="d", title="T", text="word " * 20), max_chars=40, overlap_chars=0)
    assert [passage.id for passage in passages] == ["d", "d#1", "d#2"]
    assert {passage.title for passage in passages} == {"T"}


def test_a_cut_lies_behind_a_sentence_that_ends_in_the_second_half_else_behind_a_word():
    assert pieces("This sentence has thirty letters. And this is next.") == [
        "This sentence has thirty letters.",
        "And this is next.",
    ]
    assert pieces("No. The rest of it goes on and on and on without an end") == [
        "No. The rest of it goes on and on and",
        "on without an end",
    ]


def test_a_word_longer_than_a_passage_is_cut():
    assert [len(piece) for piece in pieces("x" * 100)] == [40, 40, 20]


def test_an_overlap_repeats_the_end_from_a_word_on():
    first, second, *_ = pieces("one two three four five six seven eight nine ten", 20, 10)
    assert first == "one two three four"
    assert second.startswith("four ")


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_a_document_without_text_gives_no_passage(text):
    assert pieces(text) == []


@settings(max_examples=30)
@given(st.text(max_size=300), st.integers(20, 60), st.integers(0, 10))
def test_no_passage_is_too_long_and_nothing_is_lost(text, max_chars, overlap_chars):
    found = pieces(text, max_chars, overlap_chars)
    assert all(0 < len(piece) <= max_chars for piece in found)
    at = 0
    for piece in found:  # each follows the one before, with only white space left out
        start = text.index(piece, max(0, at - 2 * max_chars if overlap_chars else at))
        assert not text[at:start].strip()
        at = start + len(piece)
    assert not text[at:].strip()
