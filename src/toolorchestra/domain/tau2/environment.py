"""One rollout's own environment of tau2-bench."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from toolorchestra.domain.environment import CallOutcome
from toolorchestra.domain.task import Party

REQUESTORS: Mapping[Party, str] = {"policy": "assistant", "user": "user"}
"""What each party is called there."""
ERROR = "Error: "
"""What the content of a failed call begins with there."""


def is_endless(name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call could keep the machine busy for years: `calculate` takes powers of powers."""
    return name == "calculate" and "**" in str(arguments.get("expression"))


class Tau2Environment:
    """Takes calls until the episode ends; see `Environment`."""

    def __init__(self, world: Any, call_class: Any) -> None:
        """Takes an environment of the package in the task's first state, and its `ToolCall`."""
        self._world, self._call_class = world, call_class

    def call(self, name: str, arguments: Mapping[str, Any], *, by: Party = "policy") -> CallOutcome:
        """Call a tool by name. What the package raises is told to whoever called."""
        if is_endless(name, arguments):
            return CallOutcome(is_ok=False, content="powers are not allowed; multiply instead")
        call = self._call_class(
            name=name, arguments=deepcopy(dict(arguments)), requestor=REQUESTORS[by]
        )
        told = self._world.get_response(call)
        return CallOutcome(is_ok=not told.error, content=told.content.removeprefix(ERROR))
