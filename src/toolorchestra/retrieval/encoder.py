"""Text to vectors: what all encoders share, and which one a config means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from toolorchestra.retrieval.config import EncoderConfig

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


def fit_encoder(config: EncoderConfig, texts: Iterable[str]) -> Encoder:
    """The encoder of a config, ready for the corpus `texts`, which only some read.

    Raises:
        ValueError: There is no such model, or what it needs is not installed.
    """
    if config.kind == "hashed":
        from toolorchestra.retrieval.hashed import HashedEncoder

        return HashedEncoder(texts)
    return _load_model(config)


def load_encoder(config: EncoderConfig, folder: Path) -> Encoder:
    """The encoder of a config, with what `save` wrote to `folder`.

    Raises:
        ValueError: There is no such model, or what it needs is not installed.
        OSError: A file of `folder` cannot be read.
    """
    if config.kind == "hashed":
        from toolorchestra.retrieval.hashed import HashedEncoder

        return HashedEncoder.load(folder)
    return _load_model(config)


def _load_model(config: EncoderConfig) -> Encoder:
    # not at the top: torch takes seconds to import
    from toolorchestra.retrieval.transformer import TransformerEncoder

    return TransformerEncoder(config)
