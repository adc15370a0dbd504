import subprocess
import sys

import numpy as np
import pytest

from toolorchestra.tool.encoder import ENCODERS, HashedEncoder, make_encoder

CORPUS = ["The founder of Velmor is", "The mayor of Velmor is", "The founder of Kelbis is"]


def similarity(encoder, left, right):
    first, second = encoder.encode([left, right])
    return float(first @ second)


def test_vectors_are_float32_of_length_one():
    vectors = HashedEncoder(CORPUS).encode(CORPUS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 4096)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("text", ["", "  \n", "?!", "___"])
def test_a_text_without_words_gives_zeros_not_nan(text):
    vectors = HashedEncoder(CORPUS).encode([text])
    assert vectors.shape == (1, 4096)
    assert not vectors.any()


def test_no_texts_give_no_vectors():
    assert HashedEncoder(CORPUS).encode([]).shape == (0, 4096)


def test_an_empty_corpus_gives_finite_vectors():
    assert np.isfinite(HashedEncoder([]).encode(["Who founded Velmor?"])).all()


def test_rare_words_weigh_more_than_common_ones():
    encoder = HashedEncoder(CORPUS)
    query = "Who is the mayor of Velmor?"
    assert similarity(encoder, query, CORPUS[1]) > similarity(encoder, query, CORPUS[0])
    assert similarity(encoder, query, CORPUS[0]) > similarity(encoder, query, CORPUS[2])


def test_case_and_width_do_not_matter_but_a_typing_error_costs_little():
    encoder = HashedEncoder(CORPUS)
    assert similarity(encoder, "VELMOR", "velmor") == pytest.approx(1)
    assert similarity(encoder, "\uff56elmor", "velmor") == pytest.approx(1)  # full-width v
    assert 0.1 < similarity(encoder, "velmorr", "velmor") < 0.99


def test_another_process_gives_the_same_vectors():
    code = (
        "from toolorchestra.tool.encoder import HashedEncoder as H\n"
        f"print(H({CORPUS!r}).encode(['mayor of Velmor']).tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == HashedEncoder(CORPUS).encode(["mayor of Velmor"]).tobytes().hex()


def test_an_unknown_encoder_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="'bert' is not allowed; use hashed"):
        make_encoder("bert", CORPUS)


def test_a_new_encoder_is_one_line(monkeypatch):
    monkeypatch.setitem(ENCODERS, "other", HashedEncoder)
    assert isinstance(make_encoder("other", CORPUS), HashedEncoder)
