"""Texts that lack a field, or name one that nobody fills, are refused before anything starts."""

import pytest

from toolorchestra.chat.config import UpstreamConfig


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("problem", "Problem:"),
        ("problem", "Problem: {question}"),
        ("document", "Doc {number}"),
        ("code", "{code}"),
        ("attempt", "{model}"),
        ("note", "{number}"),
        ("choices", "{aliases}"),
        ("alias", "{description}"),
        ("alias", "{alias} costs {price}"),
        ("expert", "{problem}"),
        ("document", "Doc {text} {"),
        ("document", "Doc {text} {0}"),
        ("document", "Doc {text} {}"),
        ("problem", ""),
    ],
)
def test_a_text_without_its_fields_or_with_unknown_ones_is_refused(key, text):
    with pytest.raises(ValueError, match=rf"^model\.upstream\.{key}: .* is not allowed; use a"):
        UpstreamConfig(**{key: text})


def test_the_original_wording_can_be_written_without_any_optional_field():
    words = UpstreamConfig(choices="{argument}", alias="", note="", documents="", closing="")
    assert (words.alias, words.note) == ("", "")


@pytest.mark.parametrize(
    "key", ["max_document_chars", "max_work_tokens", "max_context_tokens", "num_answers"]
)
def test_limits_begin_at_one(key):
    with pytest.raises(ValueError, match=rf"^model\.upstream\.{key}: 0 is not allowed"):
        UpstreamConfig(**{key: 0})


def test_documents_may_be_shown_whole():
    assert UpstreamConfig(max_document_chars=None).max_document_chars is None
