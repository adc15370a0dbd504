"""What approximate indices find of what the exact one finds, and how much sooner."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolorchestra.retrieval.config import IndexConfig
from toolorchestra.retrieval.encoder import Vectors
from toolorchestra.retrieval.vectors import build_index, search_all

TOP_K = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """Of one approximate index."""

    label: str
    share: float
    """Of the exact index's ten hits that this one finds too, over all queries."""
    speed_up: float
    """Queries a second over those of the exact index, one query at a time."""


def measure(
    flat: Any, queries: Vectors, config: IndexConfig, efforts: Sequence[int]
) -> list[Recall]:
    """Builds an index of the exact one's vectors, and compares the two.

    Args:
        flat: The exact index.
        queries: What is searched for, of shape [n, d].
        config: Of the approximate one.
        efforts: Each is tried as nprobe of IVF, or as ef_search of HNSW.
    """
    index = build_index(flat.reconstruct_n(0, flat.ntotal), config)
    exact, exact_s = _search(flat, queries)
    recalls = []
    for effort in efforts:
        if config.kind == "ivf":
            index.nprobe, label = effort, f"IVF, {effort} of {config.nlist} lists"
        else:
            index.hnsw.efSearch, label = effort, f"HNSW, m {config.m}, ef_search {effort}"
        found, found_s = _search(index, queries)
        shared = sum(len(a & b) for a, b in zip(exact, found, strict=True))
        share = shared / sum(map(len, exact))
        recalls.append(Recall(label=label, share=share, speed_up=exact_s / found_s))
    return recalls


def _search(index: Any, queries: Vectors) -> tuple[list[set[int]], float]:
    begun = time.monotonic()
    hits = [search_all(index, queries[i : i + 1], top_k=TOP_K)[0] for i in range(len(queries))]
    elapsed_s = time.monotonic() - begun
    return [{row for row, _ in each} for each in hits], elapsed_s
