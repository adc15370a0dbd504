from pathlib import Path

import pytest
from tests.unit.page.made_up import played, turn
from tokenizers import Tokenizer

import toolorchestra.model
from toolorchestra.page.tokens import SCRIPTED, UNLOGGED, UNREADABLE, Pieces, find_tokenizer

TINY = Path(toolorchestra.model.__file__).parent / "tiny" / "tokenizer.json"


@pytest.fixture(scope="module")
def tiny():
    return Tokenizer.from_file(str(TINY))


def sampled(tiny, text, logprob=-0.5):
    ids = tuple(tiny.encode(text, add_special_tokens=False).ids)
    return turn(text=text, completion_ids=ids, logprobs=(logprob,) * len(ids))


def test_each_token_has_its_text_and_log_probability(tiny):
    message = sampled(tiny, "answer: Granbal")
    found = Pieces(TINY).of(message)
    assert "".join(found["texts"]) == "answer: Granbal"
    assert len(found["texts"]) == len(message.completion_ids) > 1
    assert set(found["logprobs"]) == {-0.5}


def test_tokens_that_only_together_make_a_character_share_a_text(tiny):
    message = sampled(tiny, "a😀b")
    found = Pieces(TINY).of(message)
    assert found["texts"] == ["a", "😀", "b"]
    assert found["logprobs"] == [-0.5, -0.5 * (len(message.completion_ids) - 2), -0.5]


def test_bytes_that_make_no_character_are_still_shown(tiny):
    ids = tuple(tiny.encode("😀", add_special_tokens=False).ids)[:1] * 5
    found = Pieces(TINY).of(turn(completion_ids=ids, logprobs=(-1.0,) * 5))
    assert found["logprobs"] == [-4.0, -1.0] and all("\ufffd" in text for text in found["texts"])


def test_it_is_said_why_there_are_no_log_probabilities(tiny):
    message = sampled(tiny, "answer")
    scripted = sampled(tiny, "answer", logprob=0.0)
    assert Pieces(TINY).why_none(played(message)) == ""
    assert Pieces(TINY).why_none(played(scripted)) == SCRIPTED
    assert Pieces(TINY).why_none(played(turn())) == UNLOGGED
    assert Pieces(None).why_none(played(message)) == UNREADABLE


def test_a_trained_policy_s_own_tokenizer_comes_before_the_one_that_it_began_with(tmp_path):
    assert find_tokenizer(tmp_path, "tiny") == TINY
    own = tmp_path / "model" / "tokenizer.json"
    own.parent.mkdir()
    own.write_text("{}")
    assert find_tokenizer(tmp_path, "tiny") == own


@pytest.mark.parametrize("path", ["", "nobody/has-this", "not a name: at all", "/no/such/folder"])
def test_a_tokenizer_that_is_not_on_this_machine_is_none(tmp_path, path):
    assert find_tokenizer(tmp_path, path) is None
