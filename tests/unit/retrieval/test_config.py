import pytest

from toolorchestra.retrieval.config import BuildConfig, CorpusConfig, EncoderConfig, IndexConfig


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CorpusConfig, {"kind": "web"}, "corpus.kind: 'web' is not allowed; use wiki, jsonl, data"),
        (CorpusConfig, {"kind": "wiki", "path": "x"}, "corpus.path: 'x'"),
        (CorpusConfig, {"kind": "jsonl"}, "corpus.path: ''"),
        (CorpusConfig, {"kind": "wiki", "max_chars": 19}, "corpus.max_chars: 19"),
        (CorpusConfig, {"kind": "wiki", "overlap_chars": -1}, "corpus.overlap_chars: -1"),
        (CorpusConfig, {"kind": "wiki", "overlap_chars": 601}, "corpus.overlap_chars: 601"),
        (EncoderConfig, {"kind": "bert"}, "encoder.kind: 'bert' is not allowed; use hashed, mini"),
        (EncoderConfig, {"kind": "hf"}, "encoder.model: ''"),
        (EncoderConfig, {"kind": "minilm", "model": "x"}, "encoder.model: 'x'"),
        (EncoderConfig, {"kind": "minilm", "pooling": "last"}, "encoder.pooling: 'last'"),
        (EncoderConfig, {"kind": "hashed", "pooling": "max"}, "encoder.pooling: 'max'"),
        (EncoderConfig, {"kind": "hashed", "dtype": "int8"}, "encoder.dtype: 'int8'"),
        (EncoderConfig, {"kind": "hashed", "max_length": 0}, "encoder.max_length: 0"),
        (EncoderConfig, {"kind": "hashed", "batch_size": 0}, "encoder.batch_size: 0"),
        (IndexConfig, {"kind": "tree"}, "index.kind: 'tree' is not allowed; use flat, ivf, hnsw"),
        (IndexConfig, {"kind": "flat", "precision": "int8"}, "index.precision: 'int8'"),
        (IndexConfig, {"kind": "ivf", "nlist": 0}, "index.nlist: 0"),
        (IndexConfig, {"kind": "ivf", "nprobe": 0}, "index.nprobe: 0"),
        (IndexConfig, {"kind": "hnsw", "m": 1}, "index.m: 1"),
        (IndexConfig, {"kind": "hnsw", "ef_construction": 0}, "index.ef_construction: 0"),
        (IndexConfig, {"kind": "hnsw", "ef_search": 0}, "index.ef_search: 0"),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(kind, options, message):
    with pytest.raises(ValueError, match=message) as refusal:
        kind(**options)
    assert "; use " in str(refusal.value)


@pytest.mark.parametrize("change", [{"out": ""}, {"num_threads": -1}])
def test_a_build_needs_a_folder_and_a_number_of_threads(change):
    parts = {
        "corpus": CorpusConfig(kind="wiki"),
        "encoder": EncoderConfig(kind="hashed"),
        "index": IndexConfig(kind="flat"),
        "out": "x",
    }
    BuildConfig(**parts)
    with pytest.raises(ValueError, match="is not allowed; use"):
        BuildConfig(**(parts | change))
