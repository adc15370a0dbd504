"""Options of the tool kind function."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionConfig:
    """Which function of which domain a tool calls; see `toolorchestra.domain.registry`."""

    domain: str
    function: str
