"""What an expert is told of a task, and what is read out of its reply."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolorchestra.provider.base import Message
from toolorchestra.types import Turn

_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_QUOTES = "\"'`\u201c\u201d"


def messages_for(
    *,
    system: str,
    text: str,
    question: str,
    turns: Sequence[Turn],
    context: str,
    max_history_chars: int,
) -> list[Message]:
    """The conversation that an expert is asked with.

    Args:
        system: The role's instruction.
        text: What the call passes on.
        question: The task's.
        turns: The rollout so far, without the turn of this call.
        context: What of these it sees: argument, task or history, see `ToolsetConfig.context`.
        max_history_chars: Longest account of earlier results; the latest part of it is kept.
    """
    parts = []
    if context == "history" and (told := history(turns)):
        parts.append(f"Results so far:\n{told[-max_history_chars:]}")
    if context != "argument" and question.strip() != text.strip():
        parts.append(f"The task:\n{question}")
        parts.append(f"Your part of it:\n{text}")
    else:
        parts.append(text)
    return [
        Message(role="system", content=system.strip()),
        Message(role="user", content="\n\n".join(parts)),
    ]


def history(turns: Sequence[Turn]) -> str:
    """What the calls of a rollout gave, in order; calls that were turned down gave nothing."""
    return "\n\n".join(
        f"[{result.name}]\n{result.content}"
        for turn in turns
        for result in turn.results
        if result.status in ("ok", "abstained")
    )


def without_thoughts(text: str) -> str:
    """A reply without the thoughts that open models write into it.

    Some servers cut off the opening mark, as the template had written it; a thought that never
    ended is all that there is.
    """
    text = text.rpartition("</think>")[2]
    return text.partition("<think>")[0].strip()


def query_in(text: str) -> str:
    """The search that a query writer worded: the last line of its reply, without quotes."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" `\t")]
    if not lines:
        return ""
    line = re.sub(r"^(?:search\s+)?query\s*:\s*", "", lines[-1], flags=re.IGNORECASE)
    return line.strip().strip(_QUOTES).strip()


def code_in(text: str) -> str:
    """The program that a code writer wrote: its last fenced block, or else all of its reply."""
    blocks = _FENCE.findall(text)
    return (blocks[-1] if blocks else text).strip()
