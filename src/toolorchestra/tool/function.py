"""A function of a domain as a tool: real code over the domain's records."""

from __future__ import annotations

from toolorchestra.domain.registry import find_function
from toolorchestra.tool.arguments import text_or_question, text_parameters
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.function_config import FunctionConfig
from toolorchestra.types import Json, ToolResult

_ARGUMENT = "text"

PARAMETERS = text_parameters(
    _ARGUMENT, "Names what is asked for. Without it, the question itself is used."
)

NOTHING_FOUND = "nothing found"


class FunctionTool:
    """A tool of the kind function. It keeps no state between calls."""

    def __init__(self, name: str, *, latency_s: float, options: FunctionConfig) -> None:
        """Find the function.

        Args:
            name: The tool's name in results.
            latency_s: Service time that every call is charged, in seconds.
            options: Which function of which domain.

        Raises:
            ValueError: there is no such domain or function; the message lists what exists.
        """
        self._name = name
        self._latency_s = latency_s
        self._function = find_function(options.domain, options.function)

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Call the function on `text`, or on the task's question where it is absent."""
        text = text_or_question(arguments, _ARGUMENT, context.episode.task.question)
        answer = self._function(text)
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=NOTHING_FOUND if answer is None else f"answer: {answer}",
            status="abstained" if answer is None else "ok",
            latency_s=self._latency_s,
        )

    async def close_session(self, session: str) -> None:
        """There is nothing to release."""

    async def close(self) -> None:
        """There is nothing to release."""
