"""The table of preference pairs for a toolset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.preference.file import read_pairs
from toolorchestra.preference.table import PairTable
from toolorchestra.preference.template import write_pairs
from toolorchestra.preference.traits import ToolTraits, family_of
from toolorchestra.tool.config import ToolConfig
from toolorchestra.toolset.config import ToolsetConfig

LOCAL_KINDS = ("local_search", "code_interpreter", "function")
"""Kinds of tools whose calls stay on the user's machines."""


def traits_of(tools: Mapping[str, ToolConfig]) -> list[ToolTraits]:
    """What wishes can be about."""
    return [
        ToolTraits(
            name=name,
            job=_job(tool),
            family=family_of(tool.priced_as) if tool.kind == "llm" else "",
            is_local=tool.kind in LOCAL_KINDS,
        )
        for name, tool in tools.items()
    ]


def build_table(preference: PreferenceConfig, toolset: ToolsetConfig) -> PairTable:
    """Pairs from the configured file, or from templates for the tools on offer.

    Raises:
        ValueError: The file cannot be used.
    """
    tools = traits_of(toolset.on_offer)
    if preference.table.file:
        # another world may lack some of its tools: their pairs are never drawn there
        return PairTable(read_pairs(Path(preference.table.file)), tools)
    return PairTable(write_pairs(tools, preference.table), tools)


def _job(tool: ToolConfig) -> str:
    if tool.kind == "llm":
        return tool.role
    return "search" if tool.kind in ("web_search", "local_search") else tool.kind
