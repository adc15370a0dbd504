"""Options of the tool kind local_search."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """What is searched, how, and when a find is good enough."""

    corpus: str = "wiki"
    """Name of the documents, a key of `toolorchestra.tool.fact_index.CORPORA`."""
    encoder: str = "hashed"
    """What turns text into vectors, a key of `toolorchestra.tool.encoder.ENCODERS`."""
    top_k: int = 1
    """Largest number of sentences in a result; 1 or more."""
    min_score: float = 0.38
    """Smallest cosine similarity of a sentence to the query, from -1 to 1; below it the search says
    that it found nothing."""

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ValueError(
                f"tool.options.top_k: {self.top_k} is not allowed; use an integer from 1 up"
            )
        if not (math.isfinite(self.min_score) and -1 <= self.min_score <= 1):
            raise ValueError(
                f"tool.options.min_score: {self.min_score} is not allowed; "
                "use a number from -1 to 1"
            )
