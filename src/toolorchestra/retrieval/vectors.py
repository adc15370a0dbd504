"""Faiss: indices by config, how they are filled, kept in a file, and searched."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.encoder import Vectors

FILE = "index.faiss"
MIN_PER_LIST = 39
"""Fewer vectors a list than this train it badly, as Faiss says."""
SAMPLE_PER_LIST = 256
"""More vectors a list than this train it no better, as Faiss says."""
BLAS_FROM = 4097
"""Queries × d from which Faiss multiplies matrices. At its own 128,000 a batch of 30 queries of
4,096 numbers reads all vectors 30 times. One query of so many is still searched as ever: the scores
of the shipped wiki do not change by a bit."""
CHUNK = 65536
"""Vectors that are added, or compared with a query, at once."""


def resolve(config: IndexConfig, *, num_vectors: int) -> IndexConfig:
    """The config with a number of lists, where lists are made.

    Raises:
        ValueError: There are fewer vectors than lists.
    """
    if config.kind != "ivf":
        return config
    nlist = config.nlist
    if nlist is None:
        nlist = max(1, min(round(4 * math.sqrt(num_vectors)), num_vectors // MIN_PER_LIST))
    if nlist > max(1, num_vectors):
        raise ValueError(
            f"index.nlist: {nlist} is not allowed for {num_vectors} passages; use at most as many"
        )
    return replace(config, nlist=nlist)


def build_index(vectors: Vectors, config: IndexConfig) -> Any:
    """A Faiss index of all rows of `vectors`, which may lie on disk.

    Args:
        vectors: float32 of shape [n, d], of length 1 or 0; row i is found as i.
        config: As `resolve` gave it.
    """
    num_vectors, dimension = vectors.shape
    values = "Flat" if config.precision == "float32" else "SQfp16"
    prefix = {"flat": "", "ivf": f"IVF{config.nlist},", "hnsw": f"HNSW{config.m},"}[config.kind]
    spec = prefix + values
    index: Any = faiss.index_factory(dimension, spec, faiss.METRIC_INNER_PRODUCT)
    if config.kind == "hnsw":
        index.hnsw.efConstruction = config.ef_construction
    if not index.is_trained and num_vectors:
        wanted = min(num_vectors, SAMPLE_PER_LIST * (config.nlist or 1))
        rows = np.random.default_rng(0).choice(num_vectors, wanted, replace=False)
        index.train(np.ascontiguousarray(vectors[np.sort(rows)]))
    for start in range(0, num_vectors, CHUNK):
        index.add(np.ascontiguousarray(vectors[start : start + CHUNK]))
    return index


def write_index(folder: Path, index: Any) -> None:
    """Writes it to the folder."""
    faiss.write_index(index, str(folder / FILE))


def read_index(folder: Path, config: IndexConfig) -> Any:
    """Reads an index, and sets how thoroughly it searches.

    Raises:
        ValueError: The file cannot be read, or holds another kind of index.
    """
    path = folder / FILE
    faiss.cvar.distance_compute_blas_threshold = BLAS_FROM
    try:
        index: Any = faiss.read_index(str(path))  # of its own class already
    except RuntimeError as error:
        raise ValueError(f"{path} cannot be read by Faiss {faiss.__version__}") from error
    kind = "hnsw" if hasattr(index, "hnsw") else "ivf" if hasattr(index, "nprobe") else "flat"
    if kind != config.kind or index.metric_type != faiss.METRIC_INNER_PRODUCT:
        raise ValueError(f"{path} is a {type(index).__name__}, but the manifest says {config.kind}")
    if kind == "ivf":
        index.nprobe = config.nprobe
        index.make_direct_map()  # so that single vectors can be looked at
    if kind == "hnsw":
        index.hnsw.efSearch = config.ef_search
    return index


def search_all(index: Any, queries: Vectors, *, top_k: int) -> list[list[tuple[int, float]]]:
    """The best rows and their scores for each query, best first: at most as many as there are."""
    count = min(top_k, index.ntotal)
    if count < 1 or not len(queries):
        return [[] for _ in queries]
    scores, rows = index.search(np.ascontiguousarray(queries), count)
    # Faiss fills up with row -1, or a score that is no number, where it found fewer
    return [
        [(int(r), float(s)) for r, s in zip(*pair, strict=True) if r >= 0 and np.isfinite(s)]
        for pair in zip(rows, scores, strict=True)
    ]


def search_among(
    index: Any, query: Vectors, rows: npt.NDArray[np.int64], *, top_k: int
) -> list[tuple[int, float]]:
    """The best of some rows, best first: exactly, whatever kind the index is.

    Args:
        index: Of Faiss.
        query: float32 of shape [d].
        rows: Those that may be found.
        top_k: Largest number of them.
    """
    parts = [
        index.reconstruct_batch(rows[start : start + CHUNK]) @ query
        for start in range(0, len(rows), CHUNK)
    ]
    if not parts:
        return []
    scores = np.concatenate(parts)
    best = np.argsort(-scores, kind="stable")[:top_k]
    return [(int(rows[i]), float(scores[i])) for i in best if np.isfinite(scores[i])]
