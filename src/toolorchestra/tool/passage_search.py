"""Search of an index of one's own, in this process or at a server: its results are passages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from toolorchestra.retrieval.client import InProcess, Remote, SearchClient
from toolorchestra.retrieval.fault import Overloaded, RetrievalFault
from toolorchestra.retrieval.index import PassageIndex, open_index
from toolorchestra.retrieval.record import Hit, Query
from toolorchestra.tool.arguments import text_or_question
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.local_search import ARGUMENT, NOTHING_FOUND
from toolorchestra.tool.search_config import SearchConfig
from toolorchestra.types import Json, ResultStatus, Task, ToolResult

MAX_QUERY_CHARS = 8192
"""Longer queries are cut: no encoder reads as much."""


def render_passages(hits: Sequence[Hit], *, max_chars: int) -> str:
    """Title and text of each passage, best first, none longer than `max_chars`."""
    texts = []
    for number, hit in enumerate(hits, start=1):
        text = hit.text if len(hit.text) <= max_chars else hit.text[: max_chars - 1] + "…"
        texts.append(f"[{number}] {hit.title}\n{text}" if hit.title else f"[{number}] {text}")
    return "\n\n".join(texts)


class PassageSearch:
    """A tool of the kind local_search. It keeps no state between calls but its connection."""

    def __init__(self, name: str, *, latency_s: float, options: SearchConfig) -> None:
        """Opens the index, which all searches of a process share; a server is asked later.

        Args:
            name: The tool's name in results.
            latency_s: Service time that every call is charged, in seconds: what a call really took
                would be full of waiting for others.
            options: What is searched, how, and when a find is good enough.

        Raises:
            ValueError: The index cannot be opened, or another encoder built it.
        """
        self._name, self._latency_s, self._options = name, latency_s, options
        self._client = _client_of(options)

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Search for `query`, or for the task's question where it is absent."""
        task = context.episode.task
        text = text_or_question(arguments, ARGUMENT, task.question)[:MAX_QUERY_CHARS]
        query = Query(text=text, top_k=self._options.top_k, allowed=self._allowed(task))
        try:
            found = await self._client.search(query)
        except (RetrievalFault, Overloaded) as fault:
            return self._result(context, f"error: {fault}", "provider_error")
        hits = [hit for hit in found if hit.score >= self._options.threshold]
        if not hits:
            return self._result(context, NOTHING_FOUND, "abstained")
        content = render_passages(hits, max_chars=self._options.max_chars)
        return self._result(context, content, "ok", hits)

    async def close_session(self, session: str) -> None:
        """There is nothing to release."""

    async def close(self) -> None:
        """Ends the connection, or the thread that searches."""
        await self._client.close()

    def _allowed(self, task: Task) -> tuple[str, ...] | None:
        key = self._options.allowed_key
        if key is None or key not in task.metadata:
            return None
        ids = task.metadata[key]
        if not isinstance(ids, list | tuple) or not all(isinstance(item, str) for item in ids):
            raise ValueError(
                f"task {task.id}: metadata.{key} must be a list of ids of documents; got "
                f"{type(ids).__name__}"
            )
        return tuple(ids)

    def _result(
        self, context: CallContext, content: str, status: ResultStatus, hits: Sequence[Hit] = ()
    ) -> ToolResult:
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=content,
            status=status,
            latency_s=self._latency_s,
            metadata={"hits": [{"id": hit.id, "score": hit.score} for hit in hits]},
        )


def _client_of(options: SearchConfig) -> SearchClient:
    if options.index is None:
        return Remote(
            url=options.url,
            service=options.service,
            registry=Path(options.registry),
            deadline_s=options.deadline_s,
        )
    index = _open_once(str(Path(options.index).resolve()))
    built_by = index.manifest.encoder.kind
    if options.encoder not in (None, built_by):
        raise ValueError(
            f"tool.options.encoder: {options.encoder!r} is not allowed for {options.index}; use "
            f"{built_by}, which built it"
        )
    return InProcess(index)


@lru_cache(maxsize=4)
def _open_once(folder: str) -> PassageIndex:
    return open_index(Path(folder))
