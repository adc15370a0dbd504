"""The shipped tools, read from `conf/` without composing a whole config."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from toolorchestra.tool.config import Odds, ToolConfig

CONF = Path(__file__).parents[3] / "conf"


def _read(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text()))


@cache
def shipped_tools(toolset: str = "local") -> dict[str, ToolConfig]:
    """Every tool of a toolset, by name."""
    defaults = _read(CONF / "toolset" / f"{toolset}.yaml")["defaults"]
    files = [name for item in defaults if isinstance(item, dict) for name in item["/tool@tools"]]
    tools = {}
    for file in files:
        for name, fields in _read(CONF / "tool" / f"{file}.yaml").items():
            odds = {skill: Odds(**odd) for skill, odd in fields.pop("profile", {}).items()}
            tools[name] = ToolConfig(**fields, profile=odds)
    return tools
