"""What an index is built from and how: `conf/retrieval/{corpus,encoder,index}/<name>.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

CORPORA = ("wiki", "jsonl", "dataset")
ENCODERS = ("hashed", "minilm", "hf")
INDICES = ("flat", "ivf", "hnsw")
POOLINGS = ("mean", "last")
DTYPES = ("float32", "bfloat16", "float16")
PRECISIONS = ("float32", "float16")


@dataclass(kw_only=True)
class CorpusConfig:
    """Where documents come from, and how long ones are cut into passages."""

    kind: str
    """wiki: the one that ships; jsonl: a file of {"id", "text", "title" (optional)}; dataset: what
    the library `datasets` loads."""
    path: str = ""
    """Of kind jsonl, the file; of kind dataset, a folder of `save_to_disk`, a name on the hub, or
    parquet, json or csv with `data_files`."""
    name: str | None = None
    """The dataset's configuration, where it has several."""
    split: str = "train"
    revision: str | None = None
    """The dataset's commit on the hub."""
    data_files: list[str] = field(default_factory=list)
    text_column: str = "text"
    title_column: str | None = None
    id_column: str | None = None
    """None: rows are numbered from 0."""
    max_chars: int = 1200
    """Longest passage, in characters."""
    overlap_chars: int = 0
    """How much of the end of a passage its successor repeats, about, in characters."""

    def __post_init__(self) -> None:
        _check_choice("corpus.kind", self.kind, CORPORA)
        if self.kind == "wiki" and self.path:
            _refuse("corpus.path", self.path, "none, as the wiki ships with the project")
        if self.kind != "wiki" and not self.path:
            _refuse("corpus.path", self.path, "a file, a folder or the name of a dataset")
        if self.max_chars < 20:
            _refuse("corpus.max_chars", self.max_chars, "a whole number from 20")
        if not 0 <= self.overlap_chars <= self.max_chars // 2:
            _refuse("corpus.overlap_chars", self.overlap_chars, "0 to half of corpus.max_chars")


@dataclass(kw_only=True)
class EncoderConfig:
    """What turns texts into vectors. All but `kind` is for models, not for `hashed`."""

    kind: str
    """hashed: no model; minilm: all-MiniLM-L6-v2 from the extra `retrieval`; hf: `model`."""
    model: str = ""
    """A folder, or a name on the Hugging Face hub."""
    revision: str | None = None
    """The model's commit on the hub."""
    pooling: str = "mean"
    """From the vectors of tokens to one: their mean, or the last one's."""
    query_prefix: str = ""
    """Put before queries, e.g. an instruction."""
    document_prefix: str = ""
    """Put before passages."""
    max_length: int = 256
    """Tokens of a text that are read; the rest is cut off."""
    dtype: str = "float32"
    device: str = "auto"
    """auto: a GPU where there is one; or what torch calls it, e.g. cuda:1."""
    batch_size: int = 64
    """Texts that are encoded at once."""

    def __post_init__(self) -> None:
        _check_choice("encoder.kind", self.kind, ENCODERS)
        _check_choice("encoder.pooling", self.pooling, POOLINGS)
        _check_choice("encoder.dtype", self.dtype, DTYPES)
        if self.kind == "hf" and not self.model:
            _refuse("encoder.model", self.model, "a folder or a name on the hub")
        if self.kind != "hf" and self.model:
            _refuse("encoder.model", self.model, f"none for {self.kind}, or encoder.kind=hf")
        if self.kind == "minilm" and self.pooling != "mean":
            _refuse("encoder.pooling", self.pooling, "mean, as minilm was trained with it")
        for key in ("max_length", "batch_size"):
            if (value := getattr(self, key)) < 1:
                _refuse(f"encoder.{key}", value, "a whole number from 1")


@dataclass(kw_only=True)
class IndexConfig:
    """How vectors are searched: always by inner product, of vectors of length 1."""

    kind: str
    """flat: exactly; ivf: in the nearest of some lists; hnsw: along a graph of neighbours."""
    precision: str = "float32"
    """In which vectors are kept; float16 takes half of the memory."""
    nlist: int | None = None
    """Lists of ivf; None: 4 √n for n passages, but 39 or more passages in each."""
    nprobe: int = 16
    """Lists of ivf that a query looks into."""
    m: int = 32
    """Neighbours of a passage in the graph of hnsw."""
    ef_construction: int = 80
    """Candidates that hnsw keeps while it builds."""
    ef_search: int = 64
    """Candidates that hnsw keeps while it searches."""

    def __post_init__(self) -> None:
        _check_choice("index.kind", self.kind, INDICES)
        _check_choice("index.precision", self.precision, PRECISIONS)
        for key in ("nlist", "nprobe", "ef_construction", "ef_search"):
            if (value := getattr(self, key)) is not None and value < 1:
                _refuse(f"index.{key}", value, "a whole number from 1")
        if self.m < 2:
            _refuse("index.m", self.m, "a whole number from 2")


@dataclass(kw_only=True)
class BuildConfig:
    """One index: `python -m toolorchestra.retrieval build`."""

    corpus: CorpusConfig
    encoder: EncoderConfig
    index: IndexConfig
    out: str
    """Folder of the index."""
    overwrite: bool = False
    """Whether an index that lies there may be replaced."""
    num_threads: int = 0
    """CPU threads; 0: all cores."""

    def __post_init__(self) -> None:
        if not self.out:
            _refuse("out", self.out, "the folder that the index is to become")
        if self.num_threads < 0:
            _refuse("num_threads", self.num_threads, "a whole number from 0")


def _check_choice(key: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        _refuse(key, value, ", ".join(allowed))


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"{key}: {value!r} is not allowed; use {allowed}")
