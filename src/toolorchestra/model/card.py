"""The model card of an exported policy: what it is, how to load it, how it scored, how it was made.

Hugging Face shows it as the model's page and reads its head.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from toolorchestra.model.config import ModelConfig


def model_card(model: ModelConfig, *, config: str, results: str = "") -> str:
    """The card as Markdown, its head as YAML.

    Args:
        model: What training started from, and how the policy is spoken to.
        config: All options of the run, as YAML.
        results: Its tables, as Markdown; empty for none.
    """
    text = files("toolorchestra.model").joinpath("card.jinja").read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(text).render(
        base_model=model.path if _is_hub_name(model.path) else "",
        origin=_origin(model.path),
        system_prompt=json.dumps(model.system_prompt, ensure_ascii=False),
        is_thinking=model.is_thinking,
        dtype=model.dtype,
        name=model.name,
        results=results.strip(),
        config=config.strip(),
    )


def _is_hub_name(path: str) -> bool:
    return path != "tiny" and not path.startswith(("/", ".", "~")) and not Path(path).exists()


def _origin(path: str) -> str:
    """What training started from, in the words of a reader who does not know this machine."""
    if path == "tiny":
        return "ToolOrchestra's tiny policy"
    return path if _is_hub_name(path) else f"the local model {Path(path).resolve().name}"
