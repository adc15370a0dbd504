"""A model's shape without its weights: what memory and time are reckoned from.

It comes from a folder's config.json; for a hub name from the copy in the hub's cache, from
`model.shape`, or from the hub, in this order.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from toolorchestra.model.config import ModelConfig, ShapeConfig

TINY = Path(__file__).parent / "tiny"
BUILD = "qwen3"
"""The only `model_type` whose tensors are known one by one."""


def shape_of(config: ModelConfig) -> ShapeConfig:
    """Finds the shape of the policy.

    Raises:
        ValueError: It cannot be read, is of another build, or is not what `model.shape` says.
    """
    stated = config.shape
    path = _config_file(config.path)
    if path is None and stated is not None and stated.of == config.path:
        return stated
    own = _read(path or _download(config), config.path)
    if stated is not None:
        _compare(stated, own, where=config.path)
    return own


def num_weights(shape: ShapeConfig) -> int:
    """All weights: embeddings, layers, last norm, and the output layer where it is not tied."""
    wide, queries, keys = shape.hidden_size, *head_widths(shape)
    matrices = wide * (2 * queries + 2 * keys + 3 * shape.intermediate_size)
    norms = 2 * wide + 2 * shape.head_dim
    num_embeddings = 1 if shape.tie_word_embeddings else 2
    return (
        num_embeddings * head_weights(shape) + shape.num_hidden_layers * (matrices + norms) + wide
    )


def head_weights(shape: ShapeConfig) -> int:
    """Weights of the output layer, the largest matrix; the embeddings have as many."""
    return shape.vocab_size * shape.hidden_size


def head_widths(shape: ShapeConfig) -> tuple[int, int]:
    """Values of a token's queries, and of its keys."""
    return (
        shape.num_attention_heads * shape.head_dim,
        shape.num_key_value_heads * shape.head_dim,
    )


def _config_file(path: str) -> Path | None:
    """The config.json of a folder, or the hub's in its cache."""
    folder = TINY if path == "tiny" else Path(path).expanduser()
    if folder.is_dir():
        return folder / "config.json"
    if path.startswith(("/", ".", "~")):
        raise ValueError(f"model.path: there is no folder {path!r}; use one, a hub name, or tiny")
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(path, "config.json")
    return Path(cached) if isinstance(cached, str) else None


def _download(config: ModelConfig) -> Path:
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(config.path, "config.json"))
    except Exception as error:  # of many kinds: no network, no such model, no right to it
        stated = config.shape
        known = "none" if stated is None else f"that of {stated.of}"
        raise ValueError(
            f"model.path: the shape of {config.path!r} cannot be read from the hub "
            f"({type(error).__name__}), and model.shape is {known}; use a folder, or state its "
            "model.shape as conf/model/qwen3_8b.yaml does"
        ) from error


def _read(path: Path, name: str) -> ShapeConfig:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        build = content["model_type"]
        if build == BUILD:
            keys = [item.name for item in fields(ShapeConfig) if item.name != "of"]
            return ShapeConfig(of=name, **{key: content[key] for key in keys})
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"model.path: {path} cannot be read ({error!r})") from error
    raise ValueError(
        f"model.path: {name!r} is of the type {build!r}, whose memory is not known; use a model "
        f"of the type {BUILD}"
    )


def _compare(stated: ShapeConfig, own: ShapeConfig, *, where: str) -> None:
    for item in fields(ShapeConfig):
        if item.name == "of":
            continue
        said, true = getattr(stated, item.name), getattr(own, item.name)
        if said != true:
            raise ValueError(
                f"model.shape.{item.name}: {said} is not allowed; {where!r} has {true}, use that, "
                "or model.shape=null"
            )
