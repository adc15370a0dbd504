"""A tool of tau2-bench as this project offers functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Tau2Function:
    """What is told of a tool; carried out by the environment."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments."""


def read_tools(tools: Iterable[Any]) -> dict[str, Tau2Function]:
    """Tools of the package by name, told by their own OpenAI schemas."""
    told = (tool.openai_schema["function"] for tool in tools)
    return {
        one["name"]: Tau2Function(
            name=one["name"], description=one["description"], parameters=one["parameters"]
        )
        for one in told
    }
