"""Options of the tool kind local_search."""

from __future__ import annotations

import math
from dataclasses import dataclass

PLACES = ("corpus", "index", "url", "service")
WIKI = "wiki"
WIKI_MIN_SCORE = 0.38
"""Questions about the wiki score more; questions about anything else score less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """What is searched, how, and when a find is good enough. At most one place can be given."""

    corpus: str | None = None
    """Name of documents that the project ships, a key of `toolorchestra.tool.fact_index.CORPORA`;
    where no other place is given: the wiki. Its results begin with the answer alone."""
    index: str | None = None
    """Folder of an index of `python -m toolorchestra.retrieval build`, searched in this process."""
    url: str | None = None
    """Of a server of such an index, e.g. http://node7:8900."""
    service: str | None = None
    """Name of such a server in `registry`, as its keeper announced it."""
    registry: str = "outputs/servers"
    """Folder where servers are announced."""
    encoder: str | None = None
    """What turns text into vectors. Of a corpus, hashed; of an index, it must be the one that
    built it, if it is given; that of a server is its own affair."""
    top_k: int = 1
    """Largest number of sentences or passages in a result; 1 or more."""
    min_score: float | None = None
    """Smallest cosine similarity to the query, from -1 to 1; below it the search says that it found
    nothing. None: 0.38 for the wiki, -1 for others."""
    max_chars: int = 2000
    """Longest passage in a result, in characters; what is longer is cut. Not for a corpus."""
    allowed_key: str | None = None
    """Key of a task's metadata that holds ids of the only documents that its searches may find. A
    task without it searches all. Not for a corpus."""
    deadline_s: float = 30.0
    """How long a search at a server may take with all retries, in seconds."""

    def __post_init__(self) -> None:
        given = [key for key in PLACES if getattr(self, key) is not None]
        if len(given) > 1:
            _refuse(given[1], getattr(self, given[1]), f"none beside {given[0]}, or it alone")
        for key in PLACES:
            if getattr(self, key) == "":
                _refuse(key, "", "a name that is not empty, or leave it out")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            _refuse("url", self.url, "one that begins with http:// or https://")
        if self.encoder is not None and (self.url or self.service):
            _refuse("encoder", self.encoder, "none, as the server has its own")
        if self.allowed_key is not None and self.shipped is not None:
            _refuse("allowed_key", self.allowed_key, "none for a corpus, or an index")
        self._check_ranges()

    def _check_ranges(self) -> None:
        if self.top_k < 1:
            _refuse("top_k", self.top_k, "an integer from 1 up")
        score = self.min_score
        if score is not None and not (math.isfinite(score) and -1 <= score <= 1):
            _refuse("min_score", score, "a number from -1 to 1")
        if self.max_chars < 1:
            _refuse("max_chars", self.max_chars, "an integer from 1 up")
        if not (math.isfinite(self.deadline_s) and self.deadline_s > 0):
            _refuse("deadline_s", self.deadline_s, "a number above 0")

    @property
    def shipped(self) -> str | None:
        """Name of the shipped corpus that is searched, if one is."""
        return WIKI if all(getattr(self, key) is None for key in PLACES) else self.corpus

    @property
    def threshold(self) -> float:
        """The smallest score of a find."""
        if self.min_score is not None:
            return self.min_score
        return -1.0 if self.shipped is None else WIKI_MIN_SCORE


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"tool.options.{key}: {value!r} is not allowed; use {allowed}")
