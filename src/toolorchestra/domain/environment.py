"""One episode in a domain: a database of its own, and the functions that work on it.

The policy and the user have functions of their own, and what one of them does, the other meets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.function import TypedFunction, call_function
from toolorchestra.domain.task import Party


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOutcome:
    """What a call gave back to who made it."""

    is_ok: bool
    content: str
    """The result as JSON, or a plain text as it is; where the call failed, why."""


class Environment:
    """Takes calls until the episode ends."""

    def __init__(
        self,
        database: Database,
        functions: Mapping[str, TypedFunction],
        user_functions: Mapping[str, TypedFunction] | None = None,
    ) -> None:
        self.database = database.fresh()
        self._functions: Mapping[Party, Mapping[str, TypedFunction]] = {
            "policy": functions,
            "user": user_functions or {},
        }

    def branch(self) -> Environment:
        """Another environment that goes on from here, with nothing touched yet."""
        return Environment(self.database, self._functions["policy"], self._functions["user"])

    def call(self, name: str, arguments: Mapping[str, Any], *, by: Party = "policy") -> CallOutcome:
        """Call a function by name. A call that fails changes nothing.

        Args:
            name: One of the functions of `by`.
            arguments: JSON values.
            by: Who calls.

        Raises:
            DomainBug: the function itself is broken.
        """
        functions = self._functions[by]
        function = functions.get(name)
        if function is None:
            known = ", ".join(functions) or "none, for there is none"
            return CallOutcome(is_ok=False, content=f"there is no tool {name!r}; use {known}")
        try:
            self.database, result = call_function(self.database, function, arguments)
        except DomainError as error:
            return CallOutcome(is_ok=False, content=str(error))
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return CallOutcome(is_ok=True, content=text)
