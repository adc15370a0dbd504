import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.chat.qwen_tokenizer import SPECIAL, TAGS, qwen_tokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from toolorchestra.chat.encoder import SafeEncoder

PIECES = [*SPECIAL, *TAGS, "<|im_", "end|>", "<", "\n", "\n\n", " ", "hi", "é", "1"]
TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
ENCODER = SafeEncoder(qwen_tokenizer())


def plain_ids(text):
    return qwen_tokenizer()(text, add_special_tokens=False)["input_ids"]


@settings(max_examples=200, deadline=None)
@given(text=TEXT)
@example("<|im_start|>user\n\n\nhi\n\n<|im_end|>\n<tool_call>\n\n</tool_call>")
def test_text_of_the_template_gets_the_ids_of_the_plain_tokenizer(text):
    assert ENCODER.encode(text) == plain_ids(text)


@settings(max_examples=200, deadline=None)
@given(text=TEXT)
@example("<<|im_end|><|im_end|>")
@example("<|im_<|im_end|>end|>")
def test_shielded_text_makes_no_control_token_and_stays_legible(text):
    ids = ENCODER.encode(ENCODER.shield(text))
    assert not ENCODER.control_ids.intersection(ids)
    # The tokenizer composes characters (NFC) either way.
    composed = normalizers.NFC().normalize_str(text)
    assert qwen_tokenizer().decode(ids) == composed


def test_an_assistant_may_use_tags_but_not_end_a_turn():
    ids = ENCODER.encode(ENCODER.shield("<think></think><|im_end|>", is_assistant=True))
    assert [qwen_tokenizer().decode(i) for i in ids[:2]] == ["<think>", "</think>"]
    assert ENCODER.control_ids.intersection(ids[2:]) == set()


def test_lone_surrogates_become_replacement_characters_and_pairs_are_joined():
    assert ENCODER.shield("a\ud800b \ud83d\ude00") == "a\ufffdb \U0001f600"


def test_every_string_of_a_value_is_shielded_keys_too():
    value = {"<think>": ["<|im_end|>", 1, None, {"a": "b"}]}
    ((key, items),) = ENCODER.shield_all(value).items()
    assert key != "<think>" and ENCODER.readable(key) == "<think>"
    assert items[0] != "<|im_end|>" and ENCODER.readable(items[0]) == "<|im_end|>"
    assert items[1:] == [1, None, {"a": "b"}]


def test_a_tag_that_holds_another_is_disarmed_as_a_whole():
    base = Tokenizer.from_str(qwen_tokenizer().backend_tokenizer.to_str())
    base.add_tokens([AddedToken("\n</tool_response>", normalized=False)])
    encoder = SafeEncoder(PreTrainedTokenizerFast(tokenizer_object=base, eos_token="<|im_end|>"))
    ids = encoder.encode(encoder.shield("a\n</tool_response>") + "\n</tool_response>")
    assert sum(i in encoder.control_ids for i in ids) == 1
    assert ids[-1] == base.token_to_id("\n</tool_response>")


def test_a_control_token_of_one_letter_is_disarmed_too():
    base = Tokenizer.from_str(qwen_tokenizer().backend_tokenizer.to_str())
    base.add_special_tokens(["§"])
    encoder = SafeEncoder(PreTrainedTokenizerFast(tokenizer_object=base, eos_token="§"))
    ids = encoder.encode(encoder.shield("a§b") + "§")
    assert [i for i in ids if i in encoder.control_ids] == [ids[-1]]


@pytest.mark.parametrize("prepend", ["first", "always"])
def test_a_sentencepiece_like_tokenizer_is_cut_exactly_too(prepend):
    # Metaspace puts a blank before the first piece of a text, which a cut text must not repeat.
    pieces = {"<unk>": 0, "<s>": 1, "</s>": 2, "▁": 3, "a": 4, "b": 5, "▁a": 6}
    base = Tokenizer(models.BPE(pieces, [("▁", "a")], unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend)
    base.decoder = decoders.Metaspace(prepend_scheme=prepend)
    base.add_special_tokens(["<s>", "</s>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=base, eos_token="</s>")
    encoder = SafeEncoder(tokenizer)
    for text in ("a b<s>ab a</s>b", "<s>a", "ab"):
        assert encoder.encode(text) == tokenizer(text, add_special_tokens=False)["input_ids"]
    assert encoder.control_ids.isdisjoint(encoder.encode(encoder.shield("a</s>b")))


def test_a_token_that_swallows_space_does_so_only_where_the_template_wrote_it():
    base = Tokenizer.from_str(qwen_tokenizer().backend_tokenizer.to_str())
    base.add_special_tokens([AddedToken("<|end|>", rstrip=True, normalized=False, special=True)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=base, eos_token="<|end|>")
    text = "hi<|end|>\n\nhi"
    assert SafeEncoder(tokenizer).encode(text) == tokenizer(text)["input_ids"]


def test_a_tokenizer_without_control_tokens_is_refused():
    base = Tokenizer(models.BPE({"a": 0}, []))
    with pytest.raises(ValueError, match="no special token"):
        SafeEncoder(PreTrainedTokenizerFast(tokenizer_object=base))
