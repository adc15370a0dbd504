import subprocess
import sys

import numpy as np
import pytest

from toolorchestra.retrieval.hashed import HashedEncoder

CORPUS = ["The founder of Velmor is", "The mayor of Velmor is", "The founder of Kelbis is"]


def similarity(encoder, left, right):
    first, second = encoder.encode_documents([left, right])
    return float(first @ second)


def test_vectors_are_float32_of_length_one():
    vectors = HashedEncoder(CORPUS).encode_documents(CORPUS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 4096)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("text", ["", "  \n", "?!", "___"])
def test_a_text_without_words_gives_zeros_not_nan(text):
    vectors = HashedEncoder(CORPUS).encode_documents([text])
    assert vectors.shape == (1, 4096)
    assert not vectors.any()


def test_no_texts_give_no_vectors():
    assert HashedEncoder(CORPUS).encode_documents([]).shape == (0, 4096)


def test_an_empty_corpus_gives_finite_vectors():
    assert np.isfinite(HashedEncoder([]).encode_documents(["Who founded Velmor?"])).all()


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
        "from toolorchestra.retrieval.hashed import HashedEncoder as H\n"
        f"print(H({CORPUS!r}).encode_documents(['mayor of Velmor']).tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        run.stdout.strip()
        == HashedEncoder(CORPUS).encode_documents(["mayor of Velmor"]).tobytes().hex()
    )


def test_queries_and_documents_are_treated_alike():
    encoder = HashedEncoder(CORPUS)
    assert (encoder.encode_queries(CORPUS) == encoder.encode_documents(CORPUS)).all()


def test_what_was_learned_is_saved_and_has_a_fingerprint(tmp_path):
    encoder = HashedEncoder(CORPUS)
    encoder.save(tmp_path)
    loaded = HashedEncoder.load(tmp_path)
    assert (loaded.encode_queries(CORPUS) == encoder.encode_queries(CORPUS)).all()
    assert loaded.fingerprint == encoder.fingerprint != HashedEncoder(CORPUS[:2]).fingerprint


def test_a_damaged_file_is_refused(tmp_path):
    np.save(tmp_path / "idf.npy", np.zeros(3))
    with pytest.raises(ValueError, match="expected 4096 numbers"):
        HashedEncoder.load(tmp_path)
