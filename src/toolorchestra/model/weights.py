"""A policy's weights as a plain model has them, and folders that hold them whole or are absent.

Nothing is tied in them, and low-rank adapters are merged in: whatever loads Qwen3 loads them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

_BASE, _ADAPTER = ".base_layer.", ".lora_"
"""In the names of an adapted layer's own weights, and in those of its adapters (peft)."""


@torch.no_grad()
def plain_weights(model: PreTrainedModel) -> Iterator[tuple[str, Tensor]]:
    """Every weight by name, one after the other; the model stays as it is.

    The output layer comes under its own name whether it is tied or not. A layer with adapters
    counts as one: its weight is the base's plus what the active ones add.
    """
    for name, tensor in model.state_dict().items():
        if _ADAPTER in name:
            continue
        layer, is_base, rest = name.partition(_BASE)
        if is_base and rest == "weight":
            tensor = _merged(model.get_submodule(layer), tensor)
        yield (f"{layer}.{rest}" if is_base else name), tensor.detach()


def _merged(layer: Any, weight: Tensor) -> Tensor:
    """What a layer of peft's computes with, in the precision of its base."""
    assert not layer.lora_variant, "only plain adapters can be merged"
    assert not any(layer.lora_bias.values()), "adapters with a bias cannot be merged"
    if layer.disable_adapters:
        return weight
    total = weight.float()
    for adapter in layer.active_adapters:
        if adapter in layer.scaling and adapter not in layer.merged_adapters:
            total = total + layer.get_delta_weight(adapter).float()
    return total.to(weight.dtype)


def weights_digest(model: PreTrainedModel) -> str:
    """Names a policy's weights: equal for weights that are equal to the last bit."""
    digest = hashlib.sha256()
    for name, tensor in plain_weights(model):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        plain = tensor.cpu().contiguous().reshape(-1).view(torch.uint8)
        digest.update(plain.numpy().data)
    return digest.hexdigest()[:16]


def write_weights(model: PreTrainedModel, folder: Path) -> None:
    """Writes config and weights, the output layer always on its own.

    vLLM 0.32 on a CPU keeps a packed copy of a tied output layer which it does not renew when
    weights are replaced: its answers are then wrong without a word. So it is told that nothing is
    tied, and finds both.
    """
    weights = {
        name: tensor.to("cpu", copy=True).contiguous() for name, tensor in plain_weights(model)
    }
    config = model.config.to_diff_dict() | {
        "tie_word_embeddings": False,
        "architectures": [type(model).__name__],
        "dtype": str(model.dtype).removeprefix("torch."),
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@contextlib.contextmanager
def whole_folder(path: Path, *, key: str, advice: str) -> Iterator[Path]:
    """A folder to write a model to, which then takes the place of what is at `path`, or nothing.

    Args:
        path: Where it goes.
        key: The option that says so.
        advice: What to do where it cannot be written.

    Raises:
        ValueError: The disk is full, or nothing can be written there.
    """
    aside = path.with_name(f"{path.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        yield aside
        shutil.rmtree(path, ignore_errors=True)
        os.replace(aside, path)
    except (OSError, SafetensorError) as error:  # a full disk is met by either
        reason = getattr(error, "strerror", None) or error
        raise ValueError(
            f"{key}: cannot write weights to {path.parent} ({reason}); {advice}"
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
