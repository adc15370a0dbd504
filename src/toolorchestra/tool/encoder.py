"""Text to vectors for the local search. The default needs numpy alone and no download."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+")
_NUM_BUCKETS = 4096
_NGRAM_LENGTHS = (3, 4)
_WORD_WEIGHT = 2.0
"""A whole word counts as much as this many of its pieces."""


class Encoder(Protocol):
    """Gives texts that mean the same similar vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Turn texts into vectors.

        Returns:
            float32 of shape [number of texts, d]; each row has length 1, or 0 where the text holds
            nothing to go by.
        """
        ...


def _features(text: str) -> dict[int, float]:
    """Counts of the words and of the pieces of words in `text`, by bucket."""
    counts: dict[int, float] = {}

    def add(feature: str, weight: float) -> None:
        # crc32, because the built-in hash differs from process to process
        bucket = zlib.crc32(feature.encode()) % _NUM_BUCKETS
        counts[bucket] = counts.get(bucket, 0.0) + weight

    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        add(f"={word}", _WORD_WEIGHT)
        padded = f"<{word}>"
        for length in _NGRAM_LENGTHS:
            for start in range(len(padded) - length + 1):
                add(padded[start : start + length], 1.0)
    return counts


class HashedEncoder:
    """Words and pieces of three and four letters, hashed into buckets and weighted by TF-IDF.

    Rare features (names) weigh most, features of most documents (articles) nearly nothing.
    """

    def __init__(self, corpus: Sequence[str]) -> None:
        """Learns the inverse document frequencies from `corpus`, which may be empty."""
        document_counts = np.zeros(_NUM_BUCKETS)
        for text in corpus:
            document_counts[list(_features(text))] += 1
        self._idf = np.log((1 + len(corpus)) / (1 + document_counts)) + 1e-3

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder.encode`; d is 4,096."""
        vectors = np.zeros((len(texts), _NUM_BUCKETS), dtype=np.float32)
        for row, text in enumerate(texts):
            features = _features(text)
            buckets = np.fromiter(features, dtype=np.int64, count=len(features))
            counts = np.fromiter(features.values(), dtype=np.float64, count=len(features))
            vectors[row, buckets] = np.log1p(counts) * self._idf[buckets]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(norms > 0, norms, 1.0)
        return vectors


ENCODERS: dict[str, Callable[[Sequence[str]], Encoder]] = {"hashed": HashedEncoder}
"""By name, what makes an encoder for a corpus: a new encoder is one line here."""


def make_encoder(name: str, corpus: Sequence[str]) -> Encoder:
    """The encoder called `name`, fitted to `corpus`.

    Raises:
        ValueError: there is no such encoder.
    """
    if name not in ENCODERS:
        raise ValueError(
            f"tool.options.encoder: {name!r} is not allowed; use {', '.join(ENCODERS)}"
        )
    return ENCODERS[name](corpus)
