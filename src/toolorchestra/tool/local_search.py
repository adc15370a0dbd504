"""Search of documents that the project ships: no network, no key, the same find every time."""

from __future__ import annotations

from toolorchestra.tool.arguments import text_or_question, text_parameters
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.fact_index import Hit, load_index
from toolorchestra.tool.search_config import SearchConfig
from toolorchestra.types import Json, ToolResult

ARGUMENT = "query"

PARAMETERS = text_parameters(
    ARGUMENT, "What to search for. Without it, the question itself is searched."
)

NOTHING_FOUND = "nothing found"


def render_hits(hits: tuple[Hit, ...]) -> str:
    """The best hit's answer on the first line, then the sentences it was found in, best first."""
    sources = [f"source: {hit.document.sentence}" for hit in hits]
    return "\n".join([f"answer: {hits[0].document.answer}", *sources])


class LocalSearch:
    """A tool of the kind local_search. It keeps no state between calls."""

    def __init__(self, name: str, *, latency_s: float, options: SearchConfig) -> None:
        """Load the index, which all searches of a process share.

        Args:
            name: The tool's name in results.
            latency_s: Service time that every call is charged, in seconds.
            options: What is searched, how, and when a find is good enough.

        Raises:
            ValueError: there is no such corpus or encoder.
        """
        self._name = name
        self._latency_s = latency_s
        self._options = options
        assert options.shipped is not None, "another tool searches other places"
        self._index = load_index(options.shipped, options.encoder or "hashed")

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Search for `query`, or for the task's question where it is absent."""
        query = text_or_question(arguments, ARGUMENT, context.episode.task.question)
        found = self._index.search(query, top_k=self._options.top_k)
        hits = tuple(hit for hit in found if hit.score >= self._options.threshold)
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=render_hits(hits) if hits else NOTHING_FOUND,
            status="ok" if hits else "abstained",
            latency_s=self._latency_s,
        )

    async def close_session(self, session: str) -> None:
        """There is nothing to release."""

    async def close(self) -> None:
        """There is nothing to release."""
