"""What a wish can be about: all that the writers of pairs know of a tool."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolTraits:
    """One tool of a toolset."""

    name: str
    job: str
    """What it does: tools of the same job can stand in for each other."""
    family: str
    """Of a model, e.g. "Qwen"; empty for anything else."""
    is_local: bool
    """Whether a call stays on the user's machines."""


def family_of(model: str) -> str:
    """The family of a model: the letters that its name begins with, three or more of them."""
    found = re.match(r"[A-Za-z]{3,}", model)
    return found[0] if found else ""


def instead_of(avoided: Collection[str], tools: Sequence[ToolTraits]) -> list[str]:
    """Tools to call in place of some: those of the same jobs, or all others where none has them."""
    others = [tool for tool in tools if tool.name not in avoided]
    jobs = {tool.job for tool in tools if tool.name in avoided}
    return [tool.name for tool in others if tool.job in jobs] or [tool.name for tool in others]
