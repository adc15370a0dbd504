"""From a corpus to a folder that can be searched: written aside, and renamed once it is complete.

Vectors go to a file first: memory holds a batch of them, and then the index.
"""

from __future__ import annotations

import itertools
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import faiss
import numpy as np

from toolorchestra.retrieval.config import BuildConfig, CorpusConfig
from toolorchestra.retrieval.corpus import read_documents
from toolorchestra.retrieval.encoder import Encoder, Vectors
from toolorchestra.retrieval.encoders import fit_encoder
from toolorchestra.retrieval.manifest import (
    FORMAT,
    MANIFEST,
    Manifest,
    record_files,
    write_manifest,
)
from toolorchestra.retrieval.probe import write_probe
from toolorchestra.retrieval.progress import Progress
from toolorchestra.retrieval.split import split
from toolorchestra.retrieval.store import PassageStore, PassageWriter, key_of
from toolorchestra.retrieval.vectors import build_index, resolve, write_index

log = logging.getLogger(__name__)

VECTORS = "vectors.npy"
ENCODE_AT_ONCE = 1024
"""Passages that the encoder is given at once; it cuts them into its own batches."""


def build(config: BuildConfig) -> Manifest:
    """Builds an index.

    Raises:
        ValueError: Corpus, encoder or index do not allow it, or `out` is taken.
        OSError: Something cannot be read or written.
    """
    out = Path(os.path.abspath(config.out))
    _check_free(out, may_replace=config.overwrite)
    aside = out.with_name(f".{out.name}.building-{os.getpid()}")
    aside.mkdir(parents=True)
    try:
        manifest = _fill(aside, config)
        _put(aside, out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    log.info("%s: %s passages, %s", out, f"{manifest.num_passages:,}", manifest.index.kind)
    return manifest


def _check_free(out: Path, *, may_replace: bool) -> None:
    if not out.exists():
        return
    if not (out / MANIFEST).is_file():
        raise ValueError(f"out: {str(out)!r} is not allowed, as it exists; use a new folder")
    if not may_replace:
        raise ValueError(
            f"out: {str(out)!r} is not allowed, as an index lies there; use a new folder, or "
            "overwrite=true"
        )


def _fill(folder: Path, config: BuildConfig) -> Manifest:
    num_documents, content = _write_passages(folder, config.corpus)
    store = PassageStore(folder)
    log.info("%s documents, %s passages", f"{num_documents:,}", f"{len(store):,}")
    index = resolve(config.index, num_vectors=len(store))
    encoder = fit_encoder(config.encoder, store.encoded_texts())
    encoder.save(folder)
    write_probe(folder, encoder)
    vectors = _encode(folder, store, encoder)
    log.info("building the index: %s", config.index.kind)
    write_index(folder, build_index(vectors, index))
    dimension = vectors.shape[1]
    del vectors
    (folder / VECTORS).unlink()
    manifest = Manifest(
        format=FORMAT,
        corpus=config.corpus,
        num_documents=num_documents,
        num_passages=len(store),
        corpus_sha256=content,
        encoder=config.encoder,
        encoder_fingerprint=encoder.fingerprint,
        dimension=dimension,
        index=index,
        faiss_version=faiss.__version__,
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        files=record_files(folder),
    )
    write_manifest(folder, manifest)
    return manifest


def _write_passages(folder: Path, corpus: CorpusConfig) -> tuple[int, str]:
    """How many documents there are, and the hash of their passages."""
    seen: set[int] = set()
    progress = Progress("documents read")
    with PassageWriter(folder) as writer:
        for document in read_documents(corpus):
            key = key_of(document.id)
            if key in seen:
                raise ValueError(f"corpus: the id {document.id!r} occurs twice; ids must differ")
            seen.add(key)
            for passage in split(
                document, max_chars=corpus.max_chars, overlap_chars=corpus.overlap_chars
            ):
                writer.add(passage)
            progress.add(1)
    progress.end()
    if not writer.num_passages:
        raise ValueError(f"corpus: {corpus.path or corpus.kind!r} holds no text")
    return len(seen), writer.sha256


def _encode(folder: Path, store: PassageStore, encoder: Encoder) -> Vectors:
    """All passages' vectors, in a file."""
    progress = Progress("passages encoded", total=len(store))
    vectors: Vectors | None = None
    start = 0
    for texts in _batches(store.encoded_texts(), ENCODE_AT_ONCE):
        batch = encoder.encode_documents(texts)
        if vectors is None:
            vectors = np.lib.format.open_memmap(
                folder / VECTORS, "w+", np.float32, (len(store), batch.shape[1])
            )
        vectors[start : start + len(batch)] = batch
        start += len(batch)
        progress.add(len(batch))
    progress.end()
    assert vectors is not None, "a corpus without passages was refused"
    return vectors


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    left = iter(texts)
    while batch := list(itertools.islice(left, size)):
        yield batch


def _put(aside: Path, out: Path) -> None:
    """Renames a complete folder; what lay there goes afterwards."""
    for path in aside.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())  # or a power cut could leave the name without the content
    before = out.with_name(f".{out.name}.replaced-{os.getpid()}")
    if out.exists():
        out.rename(before)
    aside.rename(out)
    shutil.rmtree(before, ignore_errors=True)
