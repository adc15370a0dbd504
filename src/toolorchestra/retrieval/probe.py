"""A few texts and the vectors that an encoder gave them: by these, another encoder is found out.

Weights are too large to be hashed at every start, and the same model gives slightly different
vectors on another machine or in another precision; a different one gives quite different vectors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from toolorchestra.retrieval.encoder import Encoder, Vectors

FILE = "probe.npy"
TEXTS = ("Who was the founder of the town?", "The river springs from a mountain and is 40 km long.")
MIN_COSINE = 0.98
"""Between what was written and what is seen; half precision alone stays above it."""


def write_probe(folder: Path, encoder: Encoder) -> None:
    """Writes the vectors of the probe, as queries and as documents."""
    np.save(folder / FILE, _probe(encoder))


def check_probe(folder: Path, encoder: Encoder) -> None:
    """Compares an encoder with the one that built an index.

    Raises:
        ValueError: It is another one.
    """
    before, now = np.load(folder / FILE), _probe(encoder)
    if before.shape != now.shape:
        raise ValueError(
            f"{folder}: its vectors have {before.shape[1]} numbers, but the encoder's have "
            f"{now.shape[1]}; use the model that built it"
        )
    # a text that holds nothing to go by is 0 both times
    cosines = np.where((before == 0).all(1) & (now == 0).all(1), 1.0, (before * now).sum(1))
    if cosines.min() < MIN_COSINE:
        raise ValueError(
            f"{folder}: the encoder gives other vectors than the one that built it (cosine "
            f"{cosines.min():.3f}); use the same model and revision, or build it anew"
        )


def _probe(encoder: Encoder) -> Vectors:
    return np.concatenate([encoder.encode_queries(TEXTS), encoder.encode_documents(TEXTS)])
