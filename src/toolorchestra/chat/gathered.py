"""What an episode has gathered so far: documents, programs run, answers tried, and what failed.

It is read off the turns, so that nothing has to be kept beside them. A search that found several
texts lists them in `metadata["documents"]`, best first; a model that wrote a program gives it in
`metadata["wrote"]`. Of any other, the content is the document or the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolorchestra.aliases import Front
from toolorchestra.chat.messages import answer_of
from toolorchestra.types import Episode, ToolCall, ToolResult, Turn

ALIAS = "model"
"""The one argument of every front."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """Code that a tool wrote, empty where it did not show it, and what came out."""

    code: str
    output: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """An answer, and the alias that gave it."""

    model: str
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """All that is known of an episode, each part in the order it came."""

    documents: tuple[str, ...]
    """Without repetitions; of one search, the best stands last, where a cut leaves it."""
    programs: tuple[Program, ...]
    answers: tuple[Tried, ...]
    notes: tuple[str, ...]
    """What gave nothing, and why."""


def gather(episode: Episode, turns: Sequence[Turn]) -> Gathered:
    """Reads the turns of a rollout."""
    documents: dict[str, None] = {}
    programs: list[Program] = []
    answers: list[Tried] = []
    notes: list[str] = []
    for turn in turns:
        for front, call, result in _served(episode, turn):
            if front is None or result.status == "policy_error":
                notes.append(result.content)
            elif front.gives == "answer":
                answers.append(Tried(model=_alias(call), answer=answer_of(result.content)))
            elif result.status == "abstained" or not result.content.strip():
                notes.append(
                    f"{front.name} by {_alias(call)}: {result.content.strip() or 'nothing'}"
                )
            elif front.gives == "document":
                documents |= dict.fromkeys(_documents(result))
            else:
                code = str(result.metadata.get("wrote", ""))
                output = result.content.strip().removeprefix("answer: ")
                programs.append(Program(code=code, output=output))
        notes += [f"error: {error.message}" for error in turn.errors]
    return Gathered(
        documents=tuple(documents),
        programs=tuple(programs),
        answers=tuple(answers),
        notes=tuple(notes),
    )


def _served(episode: Episode, turn: Turn) -> Iterator[tuple[Front | None, ToolCall, ToolResult]]:
    """The front, call and result of each call that was seen to; the front is None if refused."""
    fronts = {front.name: front for front in episode.fronts}
    calls = {call.id: call for call in turn.calls}
    for result in turn.results:
        call = calls[result.call_id]
        yield fronts.get(call.name), call, result


def _alias(call: ToolCall) -> str:
    return str(call.arguments.get(ALIAS, ""))


def _documents(result: ToolResult) -> list[str]:
    found = result.metadata.get("documents")
    return [str(text) for text in reversed(found)] if found else [result.content.strip()]
