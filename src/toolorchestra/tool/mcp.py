"""A tool of an MCP server.

Who is at fault: a result that is marked as an error, and arguments that the server turns down, are
the policy's; it reads why, and can go on. A server that ends, hangs, floods, prints what is no
message or answers with any other error of the protocol is a provider's fault, which voids the
rollout once attempts are used up.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.mcp.connection import CallRefused, Connection, release, share
from toolorchestra.mcp.content import cut, text_of
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.base import CallContext
from toolorchestra.types import Json, ResultStatus, ToolResult

NOTHING = "the tool returned nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class McpOptions:
    """Options of the tool kind mcp: which tool of which server."""

    server: str
    remote_name: str
    config: McpServerConfig


class McpTool:
    """A tool of the kind mcp. All tools of a server share its session, and so do all rollouts."""

    def __init__(self, name: str, *, latency_s: float, options: McpOptions) -> None:
        """Starts nothing: the server is started by the first call.

        Args:
            name: The tool's name in results.
            latency_s: Service time that every call is charged, in seconds: what a call really
                took would charge the policy for the load of other rollouts.
            options: Where it is.
        """
        self._name, self._latency_s, self._options = name, latency_s, options
        self._connection: Connection | None = None

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Calls the tool; see the module for what becomes of faults."""
        options = self._options
        if self._connection is None:
            self._connection = share(options.server, options.config, holder=self)
        connection = self._connection
        try:
            result = await connection.call(options.remote_name, arguments)
        except CallRefused as error:
            return self._result(context, f"error: {error}", "policy_error")
        except ProviderFault as fault:
            return self._result(context, f"error: {fault}", "provider_error")
        # hidden before it is cut, which could leave half of a secret
        text = cut(connection.hide(text_of(result)), options.config.max_result_characters)
        if result.is_error:
            return self._result(context, f"error: {text or 'the tool failed'}", "policy_error")
        return self._result(context, text or NOTHING, "ok" if text else "abstained")

    def _result(self, context: CallContext, content: str, status: ResultStatus) -> ToolResult:
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=content,
            status=status,
            latency_s=self._latency_s,
        )

    async def close_session(self, session: str) -> None:
        """There is nothing to release: the server knows of no rollouts."""

    async def close(self) -> None:
        """Ends the server's session and process with the last of its tools."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await release(connection, holder=self)
