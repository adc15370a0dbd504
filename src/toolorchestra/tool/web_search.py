"""Search of the web by a provider."""

from __future__ import annotations

from toolorchestra.pricing.total import total_usage
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.search import SearchClient, WebHit
from toolorchestra.tool.arguments import text_or_question
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.fault_result import fault_result
from toolorchestra.tool.web_config import WebConfig
from toolorchestra.types import Json, ToolResult

NOTHING_FOUND = "nothing found"
MAX_QUERY_CHARS = 400
"""Tavily refuses longer ones."""


class WebSearch:
    """A tool of the kind web_search. It keeps no state between calls."""

    def __init__(
        self, name: str, *, client: SearchClient, options: WebConfig, deadline_s: float
    ) -> None:
        """Sends nothing yet.

        Args:
            name: The tool's name in results.
            client: Who searches.
            options: How much is shown.
            deadline_s: How long a call may take with all its attempts.
        """
        self._name, self._client = name, client
        self._options, self._deadline_s = options, deadline_s

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Searches for `query`, or for the task's question where it is absent."""
        query = text_or_question(arguments, "query", context.episode.task.question)
        if len(query) > MAX_QUERY_CHARS and arguments:
            return ToolResult(
                call_id=context.call_id,
                name=self._name,
                content=f"error: a query has at most {MAX_QUERY_CHARS} characters",
                status="policy_error",
                metadata={"malformed": True},
            )
        try:
            found = await self._client.search(
                query[:MAX_QUERY_CHARS], top_k=self._options.top_k, deadline_s=self._deadline_s
            )
        except ProviderFault as fault:
            return fault_result(fault, context=context, name=self._name)
        documents = [self._shown(hit) for hit in found.hits]
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content="\n\n".join(documents) or NOTHING_FOUND,
            status="ok" if found.hits else "abstained",
            usage=total_usage(item.usage for item in found.attempts),
            latency_s=found.latency_s,
            metadata={"num_attempts": len(found.attempts), "documents": documents},
        )

    def _shown(self, hit: WebHit) -> str:
        return f"{hit.title}\n{hit.url}\n{hit.text[: self._options.max_hit_chars]}"

    async def close_session(self, session: str) -> None:
        """Holds nothing."""

    async def close(self) -> None:
        """Holds nothing; connections are the providers'."""
