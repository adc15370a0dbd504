"""Descriptions that `synthesize.py descriptions` wrote, in place of those of the config."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from toolorchestra.toolset.config import ToolsetConfig


def with_descriptions(toolset: ToolsetConfig) -> ToolsetConfig:
    """The toolset as `toolset.descriptions` describes it; the same object where that is empty.

    Raises:
        ValueError: The folder or a file cannot be read, or one describes another model.
    """
    if not toolset.descriptions:
        return toolset
    folder = Path(toolset.descriptions)
    tools = dict(toolset.tools)
    files = {name: folder / f"{name}.json" for name in tools}
    there = {name: path for name, path in files.items() if path.exists()}
    if not there:
        raise ValueError(
            f"toolset.descriptions: {folder} is not allowed, as it describes none of the toolset's "
            "tools; use a folder that synthesize.py descriptions wrote"
        )
    for name, path in there.items():
        model, description = _read(path)
        if model != tools[name].priced_as:
            raise ValueError(
                f"toolset.descriptions: {path} is not allowed, as it describes {model}, and "
                f"{name} is {tools[name].priced_as}; write it anew"
            )
        tools[name] = replace(tools[name], description=description)
    return replace(toolset, tools=tools)


def _read(path: Path) -> tuple[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return str(found["model"]), str(found["description"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"toolset.descriptions: cannot read {path}: {error}") from error
