"""The records of functions that stand before tools and know them by aliases alone.

Only the original ToolOrchestra's protocol speaks so, see `toolorchestra.rollout.upstream`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Gives = Literal["document", "code", "answer"]
"""What the results of a front are: something to read, a program's output, or the final answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How much of what an episode has gathered a model is shown; lengths in the policy's tokens."""

    max_document_chars: int | None
    """Of each document, from its start; None: all."""
    max_work_tokens: int
    """Of programs, their outputs and earlier answers, the newest kept."""
    max_context_tokens: int
    """Of documents and work, the newest kept; the problem's own tokens count too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alias:
    """Which tool a front's alias stands for, and what that tool is shown."""

    tool: str
    reading: Reading


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    """A function that passes each call on to the tool that the caller names by an alias."""

    name: str
    description: str
    argument: str
    """What its one argument, `model`, is."""
    gives: Gives
    aliases: Mapping[str, Alias]
