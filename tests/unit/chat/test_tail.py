import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer

from toolorchestra.chat.tail import Tail

TAIL = Tail(qwen_tokenizer())


def test_the_newest_tokens_are_kept():
    assert TAIL("one two the answer", 2) == " the answer"


def test_a_text_that_fits_is_left_as_it_is():
    text = " The  answer\n\n is: Zürich <|im_end|> "
    assert TAIL(text, TAIL.count(text)) == text


@pytest.mark.parametrize("limit", [0, -3])
def test_no_room_leaves_nothing(limit):
    assert TAIL("the answer", limit) == ""


@given(st.text(max_size=60), st.integers(1, 40))
def test_what_is_kept_is_an_end_of_the_text_and_not_much_longer_than_allowed(text, limit):
    kept = TAIL(text, limit)
    assert text.endswith(kept)
    # letters of several bytes stay whole, and may be cut into more tokens when read alone
    assert len(kept) <= 4 * limit + 8 or TAIL.count(kept) <= limit + 4


def test_lone_surrogates_are_replaced_as_in_the_prompt():
    assert TAIL("\ud800 the answer " * 40, 500).startswith("�")


def test_a_text_of_long_tokens_is_bounded_in_letters_too():
    assert len(TAIL(" " * 5000 + "answer", 10)) <= 80
