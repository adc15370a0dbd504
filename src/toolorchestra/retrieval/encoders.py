"""Which encoder a config means. A new one is a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from toolorchestra.retrieval.config import EncoderConfig
from toolorchestra.retrieval.encoder import Encoder
from toolorchestra.retrieval.hashed import HashedEncoder


def fit_encoder(config: EncoderConfig, texts: Iterable[str]) -> Encoder:
    """The encoder of a config, ready for the corpus `texts`, which only some read.

    Raises:
        ValueError: There is no such model, or what it needs is not installed.
    """
    if config.kind == "hashed":
        return HashedEncoder(texts)
    return _load_model(config)


def load_encoder(config: EncoderConfig, folder: Path) -> Encoder:
    """The encoder of a config, with what `save` wrote to `folder`.

    Raises:
        ValueError: There is no such model, or what it needs is not installed.
        OSError: A file of `folder` cannot be read.
    """
    if config.kind == "hashed":
        return HashedEncoder.load(folder)
    return _load_model(config)


def _load_model(config: EncoderConfig) -> Encoder:
    # not at the top: torch takes seconds to import
    from toolorchestra.retrieval.transformer import TransformerEncoder

    return TransformerEncoder(config)
