"""The interface that every tool shares, so that the rollout loop needs to know no kind of tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolorchestra.types import Episode, Json, ToolResult, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class CallContext:
    """Where a call comes from: all that a tool may know besides its arguments."""

    episode: Episode
    call_id: str
    call_number: int
    """How often this rollout called this tool before: 0, 1, ..."""
    session: str
    """Id of the rollout: the key for state that lives as long as the rollout."""
    turns: Sequence[Turn] = ()
    """The rollout's turns before that of this call."""


class Tool(Protocol):
    """Anything that a policy can call."""

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Answer one call.

        Args:
            arguments: Checked against the offered tool's schema beforehand. Every argument is
                optional and defaults to the task's question, except those of MCP servers' tools.
            context: The episode and the rollout that call.

        Returns:
            The result, with `cost_usd` left 0: the rollout loop prices the usage. A fault of the
            policy is a result of status "policy_error" that says what was wrong, never an
            exception.
        """
        ...

    async def close_session(self, session: str) -> None:
        """Release what the tool holds for one rollout.

        Called once a rollout ends, however it ends, and also where it never called the tool.
        """
        ...

    async def close(self) -> None:
        """Release what the tool holds: processes, connections, sessions."""
        ...
