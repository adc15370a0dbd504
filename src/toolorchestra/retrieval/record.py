"""What is indexed, asked for and found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One text of a corpus."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A piece of a document, or all of it: what is indexed."""

    id: str
    """The document's, with "#" and a number behind it from the second piece on."""
    document: str
    """Id of the document."""
    title: str
    text: str

    @property
    def encoded(self) -> str:
        """What the encoder reads."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is searched for."""

    text: str
    top_k: int
    """Largest number of hits."""
    allowed: tuple[str, ...] | None = None
    """Ids of the documents that may be found; None: all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A passage that was found."""

    id: str
    document: str
    title: str
    text: str
    score: float
    """Cosine similarity to the query."""
