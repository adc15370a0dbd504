"""What approximate indices find of what the exact one finds, and how much sooner."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.encoder import Vectors
from toolorchestra.retrieval.vectors import build_index, resolve, search_all

TOP_K = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """Of one approximate index."""

    label: str
    share: float
    """Of the exact index's ten hits that this one finds too, over all queries."""
    speed_up: float
    """Queries a second over those of the exact index, one query at a time."""


def measure(flat: Any, queries: Vectors, config: IndexConfig) -> Recall:
    """Builds an index of the exact one's vectors, and compares the two."""
    vectors = flat.reconstruct_n(0, flat.ntotal)
    config = resolve(config, num_vectors=len(vectors))
    index = build_index(vectors, config)
    if config.kind == "ivf":
        index.nprobe = config.nprobe
        label = f"IVF, {config.nlist} lists, {config.nprobe} searched"
    else:
        index.hnsw.efSearch = config.ef_search
        label = f"HNSW, m {config.m}, ef {config.ef_search}"
    exact, exact_s = _search(flat, queries)
    found, found_s = _search(index, queries)
    shared = sum(len(a & b) for a, b in zip(exact, found, strict=True))
    return Recall(label=label, share=shared / sum(map(len, exact)), speed_up=exact_s / found_s)


def _search(index: Any, queries: Vectors) -> tuple[list[set[int]], float]:
    begun = time.monotonic()
    hits = [search_all(index, queries[i : i + 1], top_k=TOP_K)[0] for i in range(len(queries))]
    elapsed_s = time.monotonic() - begun
    return [{row for row, _ in each} for each in hits], elapsed_s
