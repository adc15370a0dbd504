"""A tool of one's own servers whose results a cassette keeps, or gives back in their place."""

from __future__ import annotations

from dataclasses import replace

from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.tool.fault_result import fault_result
from toolorchestra.types import Json, ToolResult


class TapedTool:
    """Calls another tool through a cassette. In a replay nothing is called."""

    def __init__(self, name: str, tool: Tool, cassette: Cassette) -> None:
        self._name, self._tool, self._cassette = name, tool, cassette

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """What the tool gives, or gave."""
        request = {"tool": self._name, "arguments": arguments}
        try:
            result = await self._cassette.through(
                ToolResult, request, lambda: self._tool.call(arguments, context)
            )
        except ProviderFault as fault:  # recorded: the call was cut off by its deadline
            return fault_result(fault, context=context, name=self._name)
        return replace(result, call_id=context.call_id)

    async def close_session(self, session: str) -> None:
        """As the tool's own."""
        await self._tool.close_session(session)

    async def close(self) -> None:
        """As the tool's own."""
        await self._tool.close()
