"""Text to vectors: what all encoders share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Gives a query, and the passages that answer it, similar vectors.

    Both methods return float32 of shape [number of texts, d]; each row has length 1, or 0 where the
    text holds nothing to go by.
    """

    @property
    def fingerprint(self) -> str:
        """Of what, besides its config, an encoder is: the same for equal ones."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of queries."""
        ...

    def save(self, folder: Path) -> None:
        """Writes what was learned from the corpus, if anything was."""
        ...
