from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.tool.catalogue import shipped_tools

from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.engine.policies import call_text, final_text, thought_text
from toolorchestra.model.tokenizer import CONTROL, PIECES, TAGS, build_tokenizer
from toolorchestra.toolset.offer import describe

PREAMBLE = ("# Tools\n\nYou may call one or more functions.\n", "Solve the task with the tools.")


@cache
def tokenizer():
    descriptions = [describe(config, is_simulated=True) for config in shipped_tools().values()]
    texts = [*shipped_tools(), *descriptions, "What is the capital of France?", "answer: 144"]
    texts += [f"{space}{number:02d}" for number in range(100) for space in ("", " ")]
    return build_tokenizer(texts * 5, preamble=PREAMBLE, vocab_size=1500)


def encode(text):
    return tokenizer().encode(text, add_special_tokens=False)


@pytest.mark.parametrize("piece", [*CONTROL, *TAGS, *PIECES, *PREAMBLE])
def test_every_fixed_piece_is_one_token(piece):
    assert len(encode(piece)) == 1
    assert tokenizer().decode(encode(piece)) == piece


@pytest.mark.parametrize("name", sorted(shipped_tools()))
def test_a_tools_name_is_one_token_and_a_call_five(name):
    assert len(encode(name)) == 1
    ids = [*encode(call_text(name)), tokenizer().eos_token_id]
    assert len(ids) == 5
    assert tokenizer().decode(ids) == f"{call_text(name)}<|im_end|>"


def test_a_name_follows_the_same_token_in_the_prompt_and_in_a_call():
    shown = encode('{"type": "function", "function": {"name": "gpt_5", "description": "x"')
    called = encode(call_text("gpt_5"))
    (name,) = encode("gpt_5")
    assert shown[shown.index(name) - 1] == called[called.index(name) - 1]


def test_control_tokens_come_first_and_end_turns():
    assert [tokenizer().convert_tokens_to_ids(token) for token in CONTROL] == [0, 1, 2]
    assert tokenizer().eos_token == "<|im_end|>"
    assert tokenizer().pad_token == "<|endoftext|>"
    assert tokenizer().eos_token_id != tokenizer().pad_token_id
    assert set(tokenizer().all_special_tokens) == {"<|im_end|>", "<|endoftext|>"}


def test_tags_and_pieces_stay_visible_when_special_tokens_are_skipped():
    text = call_text("gpt_5")
    assert tokenizer().decode(encode(text), skip_special_tokens=True) == text


@given(st.text(max_size=60))
@example("don't  stop , now .")
@example(" leading, trailing  \n\n\t ")
@example("北京 é é ‮ 👩‍👩‍👧 \x00 \u2028")
@example('a <tool_call>\n{"name": "x"} <|im_end|>')
@example("gpt_5_mini gpt_5 _x_ 3.14 1,000 -7")
def test_any_text_comes_back_as_it_was(text):
    assert tokenizer().decode(encode(text)) == text


@pytest.mark.parametrize("number", ["12345", " 12345", "07"])
def test_numbers_are_copied_by_pairs_of_digits(number):
    pairs = {"12345": ["12", "34", "5"], " 12345": [" 12", "34", "5"], "07": ["07"]}
    assert [tokenizer().decode([token]) for token in encode(number)] == pairs[number]


def test_a_rating_is_the_same_token_in_a_description_and_in_a_thought():
    described = encode('"description": "Frontier reasoner. math 5, logic 4, code 5. 2 cents"')
    for rating in ("math 5", "logic 4", "code 5"):
        (token,) = encode(rating)
        assert token in described
        assert token in encode(thought_text(rating))


def test_what_an_answer_begins_with_is_one_token_in_result_and_answer():
    (token,) = encode("answer:")
    untrusted = tokenizer().backend_tokenizer.encode("answer: 144", is_pretokenized=False).ids
    assert untrusted[0] == encode(final_text("144"))[0] == token


def test_an_answer_is_short():
    assert len(encode(final_text("144"))) <= 6


def test_the_same_texts_give_the_same_tokenizer():
    texts = ["one two three"] * 3
    one, two = (build_tokenizer(texts, preamble=PREAMBLE, vocab_size=300) for _ in range(2))
    assert one.get_vocab() == two.get_vocab()


def test_the_projects_template_accepts_it():
    renderer = Renderer(tokenizer(), template=builtin_template(), is_thinking=False)
    assert renderer.end_of_turn_id == tokenizer().eos_token_id


def test_it_comes_back_from_disk_as_it_was(tmp_path):
    tokenizer().save_pretrained(tmp_path)
    loaded = type(tokenizer()).from_pretrained(tmp_path)
    text = call_text("gpt_5") + "<|im_end|> don't , stop"
    assert loaded.encode(text) == encode(text)
    assert loaded.decode(loaded.encode(text)) == text
