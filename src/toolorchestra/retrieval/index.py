"""An index that is open: texts in, passages out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolorchestra.retrieval.encoder import Encoder
from toolorchestra.retrieval.encoders import load_encoder
from toolorchestra.retrieval.manifest import Manifest, check_files, read_manifest
from toolorchestra.retrieval.probe import check_probe
from toolorchestra.retrieval.record import Hit, Query
from toolorchestra.retrieval.store import PassageStore
from toolorchestra.retrieval.vectors import read_index, search_all, search_among


class PassageIndex:
    """Passages, their vectors, and the encoder of queries. One search at a time."""

    def __init__(
        self, manifest: Manifest, *, store: PassageStore, vectors: Any, encoder: Encoder
    ) -> None:
        """Takes parts that belong together; `open_index` sees to that."""
        self.manifest, self.encoder = manifest, encoder
        self._store, self._vectors = store, vectors
        # the parameters of a search lie in the Faiss index, and a GPU has one encoder
        self._lock = threading.Lock()

    def search(self, queries: Sequence[Query]) -> list[tuple[Hit, ...]]:
        """The passages nearest to each query, best first.

        Returns:
            At most `top_k` hits a query, and at most as many as there are; scores are finite.
        """
        if not queries:
            return []
        # halves of surrogate pairs are no text to a tokenizer
        texts = [query.text.encode(errors="replace").decode() for query in queries]
        with self._lock:
            vectors = self.encoder.encode_queries(texts)
            free = [i for i, query in enumerate(queries) if query.allowed is None]
            most = max((queries[i].top_k for i in free), default=0)
            found = dict(
                zip(free, search_all(self._vectors, vectors[free], top_k=most), strict=True)
            )
            for i, query in enumerate(queries):
                if query.allowed is not None:
                    rows = self._store.rows_of(query.allowed)
                    top_k = max(0, query.top_k)
                    found[i] = search_among(self._vectors, vectors[i], rows, top_k=top_k)
            return [
                tuple(self._hit(row, score) for row, score in found[i][: max(0, query.top_k)])
                for i, query in enumerate(queries)
            ]

    def _hit(self, row: int, score: float) -> Hit:
        passage = self._store[row]
        return Hit(
            id=passage.id,
            document=passage.document,
            title=passage.title,
            text=passage.text,
            score=score,
        )


def open_index(
    folder: Path, *, device: str | None = None, like: PassageIndex | None = None
) -> PassageIndex:
    """Opens an index, once all its parts are seen to belong together.

    Args:
        folder: What `build` made.
        device: Where a model runs; None: as the manifest says.
        like: Another open index, whose model is used again if it is the same.

    Raises:
        ValueError: Manifest, files, and what is installed do not go together; one sentence says
            how.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    try:
        store = PassageStore(folder)
        vectors = read_index(folder, manifest.index)
    except OSError as error:
        raise ValueError(f"{folder} cannot be read: {error}") from error
    for what, count in (("passages", len(store)), ("vectors", vectors.ntotal)):
        if count != manifest.num_passages:
            raise ValueError(
                f"{folder} holds {count} {what}, but the manifest says {manifest.num_passages}"
            )
    if vectors.d != manifest.dimension:
        raise ValueError(
            f"{folder}: vectors have {vectors.d} numbers, but the manifest says "
            f"{manifest.dimension}"
        )
    encoder = _encoder_of(folder, manifest, device, like)
    if encoder.fingerprint != manifest.encoder_fingerprint:
        raise ValueError(
            f"{folder}: the encoder here is not the one that built it (fingerprint "
            f"{encoder.fingerprint[:12]}, not {manifest.encoder_fingerprint[:12]}); use the same "
            "model and revision, or build it anew"
        )
    check_probe(folder, encoder)
    return PassageIndex(manifest, store=store, vectors=vectors, encoder=encoder)


def _encoder_of(
    folder: Path, manifest: Manifest, device: str | None, like: PassageIndex | None
) -> Encoder:
    config = manifest.encoder
    if like is not None and config.kind != "hashed" and like.manifest.encoder == config:
        return like.encoder  # a GPU may have no room for a second one
    return load_encoder(config if device is None else replace(config, device=device), folder)
