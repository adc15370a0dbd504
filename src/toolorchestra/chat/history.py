"""Turns as chat messages again: for templates that rewrite history once the user speaks."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.chat.messages import answer_of, assistant_message, tool_message
from toolorchestra.chat.parse import parse_message
from toolorchestra.types import CallError, Json, ToolResult, Turn


def said_in(turn: Turn) -> str:
    """What a turn's message says, without thinking and calls."""
    if turn.is_native:
        return answer_of(turn.text)
    return answer_of(parse_message(turn.text, finish_reason=turn.finish_reason).content)


def shown_after(turn: Turn) -> list[ToolResult]:
    """What the policy is shown of its calls, and of all that was no call."""
    return [*turn.results, *map(_as_result, turn.errors)]


def history(turns: Sequence[Turn]) -> list[Json]:
    """The messages of turns in their order, with what each caused."""
    messages: list[Json] = []
    for turn in turns:
        messages.append(policy_message(turn))
        messages += map(tool_message, shown_after(turn))
        if turn.user is not None:
            messages.append(user_message(turn.user.text))
    return messages


def policy_message(turn: Turn) -> Json:
    """A turn's message; one that could not be read stands as it was written."""
    if turn.errors:
        return assistant_message(thinking="", content=turn.text, calls=())
    return assistant_message(thinking=turn.thinking, content=said_in(turn), calls=turn.calls)


def user_message(text: str) -> Json:
    """What the user says."""
    return {"role": "user", "content": text}


def _as_result(error: CallError) -> ToolResult:
    """Output that is no call, as a result that tells the policy what was wrong."""
    return ToolResult(call_id="", name="", content=f"error: {error.message}", status="policy_error")
