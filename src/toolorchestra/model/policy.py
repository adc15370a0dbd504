"""Loads a policy and its tokenizer, with one sentence of advice where that fails."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from toolorchestra.model.config import ModelConfig

TINY = Path(__file__).parent / "tiny"
"""The policy that ships with the project."""


def folder_or_name(path: str) -> str:
    """Where transformers finds the model that `model.path` means."""
    return str(TINY) if path == "tiny" else path


def load_policy(config: ModelConfig) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads weights and tokenizer.

    Raises:
        ValueError: if there is no such model, or its files are damaged.
    """
    where = folder_or_name(config.path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(where)
        model = AutoModelForCausalLM.from_pretrained(where, dtype=getattr(torch, config.dtype))
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"model.path: cannot load {config.path!r} ({reason}); "
            "use a folder with config.json, weights and tokenizer, a hub name, or tiny"
        ) from error
    bad = [name for name, weight in model.named_parameters() if not torch.isfinite(weight).all()]
    if bad:
        raise ValueError(f"model.path: {config.path!r} holds NaN or infinite weights in {bad[0]}")
    return model, tokenizer
