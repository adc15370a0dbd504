"""Loads a policy and its tokenizer, with one sentence of advice where that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from toolorchestra.model.config import ModelConfig
from toolorchestra.model.lora import add_adapters

TINY = Path(__file__).parent / "tiny"
"""The policy that ships with the project."""


def folder_or_name(path: str) -> str:
    """Where transformers finds the model that `model.path` means."""
    return str(TINY) if path == "tiny" else path


def load_policy(config: ModelConfig) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads weights and tokenizer.

    Raises:
        ValueError: if there is no such model, its files are damaged or do not belong together, or
            it takes fewer tokens than `max_context`.
    """
    where = folder_or_name(config.path)
    if where.startswith(("/", ".", "~")) and not Path(where).is_dir():
        raise _refusal(config.path, "there is no such folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(where)
        pair: Any = AutoModelForCausalLM.from_pretrained(
            where, dtype=getattr(torch, config.dtype), output_loading_info=True
        )
    except Exception as error:  # damaged tokenizers raise bare Exception, KeyError and more
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise _refusal(config.path, reason) from error
    model: PreTrainedModel = pair[0]
    missing: set[str] = pair[1]["missing_keys"]
    # transformers fills both gaps without a word that stops anyone: by chance, and by nothing
    if missing:
        raise _refusal(config.path, f"no weights for {min(missing)}")
    if not tokenizer.encode("text", add_special_tokens=False):
        raise _refusal(config.path, "no vocabulary in its tokenizer")
    num_embedded = int(model.config.vocab_size)
    if len(tokenizer) > num_embedded:
        reason = f"{len(tokenizer)} tokens, but embeddings for {num_embedded}"
        raise _refusal(config.path, reason)
    bad = [name for name, weight in model.named_parameters() if not torch.isfinite(weight).all()]
    if bad:
        raise _refusal(config.path, f"NaN or infinite weights in {bad[0]}")
    longest = getattr(model.config, "max_position_embeddings", None)
    if longest is not None and config.max_context > longest:
        raise ValueError(
            f"model.max_context: {config.max_context} is not allowed; {config.path!r} takes at "
            f"most {longest} tokens"
        )
    if config.lora.rank:
        add_adapters(model, config.lora)
    if not config.train_embeddings:
        model.get_input_embeddings().weight.requires_grad_(False)
    return model, tokenizer


def tiny_tokenizer() -> PreTrainedTokenizerBase:
    """The shipped policy's, in which scripted policies speak beside one without weights."""
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(str(TINY))
    return tokenizer


def _refusal(path: str, reason: str) -> ValueError:
    return ValueError(
        f"model.path: cannot load {path!r} ({reason}); "
        "use a folder with config.json, weights and tokenizer, a hub name, or tiny"
    )
