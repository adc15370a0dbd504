"""A policy as a folder in Hugging Face's form, which transformers and vLLM load as it is."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from toolorchestra.chat.render import builtin_template
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.weights import whole_folder, write_weights


def export_policy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    *,
    config: ModelConfig,
    end_id: int,
    card: str,
) -> Path:
    """Writes weights, tokenizer, chat template, generation settings and model card.

    The folder is complete or absent; one that is there already is replaced. Adapters are merged
    in. Neither the model nor the tokenizer is changed.

    Args:
        model: The policy.
        tokenizer: Its tokenizer.
        folder: Where to write; its parents are made.
        config: How the policy is spoken to.
        end_id: The token that ends a turn.
        card: Text of README.md, see `toolorchestra.model.card`.

    Returns:
        The folder.

    Raises:
        ValueError: The disk is full, or nothing can be written there.
    """
    advice = "use a folder with room for the model"
    with whole_folder(folder, key="output_dir", advice=advice) as aside:
        write_weights(model, aside)
        _write_tokenizer(tokenizer, aside, template=config.template)
        settings = generation_settings(tokenizer, config, end_id=end_id)
        (aside / "generation_config.json").write_text(json.dumps(settings, indent=1) + "\n")
        (aside / "README.md").write_text(card, encoding="utf-8")
    return folder


def generation_settings(
    tokenizer: PreTrainedTokenizerBase, config: ModelConfig, *, end_id: int
) -> dict[str, int | float | bool]:
    """How the policy was measured: greedily, each turn up to its end."""
    settings: dict[str, int | float | bool] = {
        "do_sample": False,
        "temperature": 0.0,  # vLLM goes by this, transformers by do_sample
        "max_new_tokens": config.max_new_tokens,
        "eos_token_id": end_id,
    }
    if tokenizer.pad_token_id is not None:
        settings["pad_token_id"] = tokenizer.pad_token_id
    return settings


def _write_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: Path, *, template: str) -> None:
    """Writes a tokenizer with the chat template that the policy was trained with."""
    if template == "qwen3":
        tokenizer = copy.deepcopy(tokenizer)
        tokenizer.chat_template = builtin_template()
    try:
        tokenizer.save_pretrained(folder)
    except OSError:
        raise
    except Exception as error:  # tokenizers meets a full disk with a bare Exception
        raise OSError(str(error)) from error
