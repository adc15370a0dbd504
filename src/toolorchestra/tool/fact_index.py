"""A Faiss index over single facts, built once in a process for each corpus and encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import faiss
import numpy as np

from toolorchestra.domain.wiki import load_wiki
from toolorchestra.retrieval.encoder import Encoder
from toolorchestra.retrieval.hashed import HashedEncoder


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One sentence, the words of it that answer questions about it, and the other words."""

    sentence: str
    answer: str
    subject: str
    """What is indexed: the sentence without its answer. Questions never hold the answer, but they
    may hold the answer of another sentence, which would draw them there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A document that was found."""

    document: Document
    score: float
    """Cosine similarity to the query."""


def wiki_documents() -> tuple[Document, ...]:
    """Every fact of the wiki that ships with the project."""
    return tuple(
        Document(
            sentence=fact.sentence,
            answer=fact.answer,
            subject=f"{fact.sentence[: fact.start]} {fact.sentence[fact.end :]}",
        )
        for fact in load_wiki().facts
    )


CORPORA: dict[str, Callable[[], tuple[Document, ...]]] = {"wiki": wiki_documents}
"""By name, what loads the documents: a new corpus is one line here."""

ENCODERS: dict[str, Callable[[Sequence[str]], Encoder]] = {"hashed": HashedEncoder}
"""By name, what makes an encoder for a corpus: a new encoder is one line here."""


class FactIndex:
    """Exact search by cosine similarity. Reading it from several threads is safe."""

    def __init__(self, documents: Sequence[Document], encoder: Encoder) -> None:
        """Encodes and stores `documents`, of which there may be none."""
        self._documents = tuple(documents)
        self._encoder = encoder
        self._index = None
        if self._documents:
            vectors = encoder.encode_documents([document.subject for document in self._documents])
            self._index = faiss.IndexFlatIP(vectors.shape[1])
            self._index.add(np.ascontiguousarray(vectors))

    def search(self, query: str, *, top_k: int) -> tuple[Hit, ...]:
        """The documents nearest to `query`, best first.

        Returns:
            At most `top_k` hits, and at most as many as there are documents; each score is finite.
        """
        # Faiss fills up with index -1 when asked for more than it holds.
        count = min(top_k, len(self._documents))
        if self._index is None or count < 1:
            return ()
        scores, places = self._index.search(self._encoder.encode_queries([query]), count)
        return tuple(
            Hit(document=self._documents[place], score=float(score))
            for score, place in zip(scores[0], places[0], strict=True)
            if place >= 0 and np.isfinite(score)
        )


@lru_cache(maxsize=8)
def load_index(corpus: str, encoder: str) -> FactIndex:
    """The index over a corpus; the same object at every call in a process.

    Raises:
        ValueError: there is no such corpus or encoder.
    """
    if corpus not in CORPORA:
        raise ValueError(
            f"tool.options.corpus: {corpus!r} is not allowed; use {', '.join(CORPORA)}"
        )
    if encoder not in ENCODERS:
        raise ValueError(
            f"tool.options.encoder: {encoder!r} is not allowed; use {', '.join(ENCODERS)}"
        )
    documents = CORPORA[corpus]()
    return FactIndex(documents, ENCODERS[encoder]([document.subject for document in documents]))
