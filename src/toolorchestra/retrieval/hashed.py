"""An encoder of word counts. It needs numpy alone and no download."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from toolorchestra.retrieval.encoder import Vectors

FILE = "idf.npy"
"""In an index's folder: what the encoder learned from the corpus."""

_WORD = re.compile(r"[^\W_]+")
_NUM_BUCKETS = 4096
_NGRAM_LENGTHS = (3, 4)
_WORD_WEIGHT = 2.0
"""A whole word counts as much as this many of its pieces."""
_MAX_CACHED_CHARS = 64


@lru_cache(maxsize=2**16)
def _word_features(word: str) -> tuple[tuple[int, float], ...]:
    """Buckets and weights of a word and of its pieces."""
    padded = f"<{word}>"
    features = [(f"={word}", _WORD_WEIGHT)]
    for length in _NGRAM_LENGTHS:
        starts = range(len(padded) - length + 1)
        features += [(padded[start : start + length], 1.0) for start in starts]
    # crc32, because the built-in hash differs from process to process
    return tuple((zlib.crc32(text.encode()) % _NUM_BUCKETS, weight) for text, weight in features)


def _features(text: str) -> dict[int, float]:
    """Counts of the words and of the pieces of words in `text`, by bucket."""
    counts: dict[int, float] = {}
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        # a long word, which no language has, is not worth the memory
        find = _word_features if len(word) <= _MAX_CACHED_CHARS else _word_features.__wrapped__
        for bucket, weight in find(word):
            counts[bucket] = counts.get(bucket, 0.0) + weight
    return counts


class HashedEncoder:
    """Words and pieces of three and four letters, hashed into buckets and weighted by TF-IDF.

    Rare features (names) weigh most, features of most documents (articles) nearly nothing. Queries
    and documents are treated alike.
    """

    def __init__(self, corpus: Iterable[str]) -> None:
        """Learns the inverse document frequencies from `corpus`, which may be empty."""
        document_counts, num_documents = np.zeros(_NUM_BUCKETS), 0
        for text in corpus:
            document_counts[list(_features(text))] += 1
            num_documents += 1
        self._idf: npt.NDArray[np.float64] = (
            np.log((1 + num_documents) / (1 + document_counts)) + 1e-3
        )

    @classmethod
    def load(cls, folder: Path) -> HashedEncoder:
        """The encoder that was saved in `folder`.

        Raises:
            ValueError: The file is damaged.
            OSError: It cannot be read.
        """
        encoder = cls(())
        encoder._idf = np.load(folder / FILE)
        if encoder._idf.shape != (_NUM_BUCKETS,):
            raise ValueError(f"{folder / FILE}: expected {_NUM_BUCKETS} numbers")
        return encoder

    def save(self, folder: Path) -> None:
        """See `Encoder.save`."""
        np.save(folder / FILE, self._idf)

    @property
    def fingerprint(self) -> str:
        """Of the frequencies."""
        return hashlib.sha256(self._idf.tobytes()).hexdigest()

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`; d is 4,096."""
        vectors = np.zeros((len(texts), _NUM_BUCKETS), dtype=np.float32)
        for row, text in enumerate(texts):
            features = _features(text)
            buckets = np.fromiter(features, dtype=np.int64, count=len(features))
            counts = np.fromiter(features.values(), dtype=np.float64, count=len(features))
            vectors[row, buckets] = np.log1p(counts) * self._idf[buckets]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(norms > 0, norms, 1.0)
        return vectors

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`; d is 4,096."""
        return self.encode_documents(texts)
