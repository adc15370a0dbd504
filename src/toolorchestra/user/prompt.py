"""What a model that plays a user is told: who it is, what was said so far, and what its calls gave.

Never the golden actions, nor what has to be communicated: it could give them away. The policy's
words come to it as the other side of the conversation, with spellings of control tokens broken up,
so that none of them can pose as an instruction of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolorchestra.chat.history import said_in
from toolorchestra.domain.goal import AnyGoal
from toolorchestra.judge.prompt import without_control
from toolorchestra.provider.base import Message
from toolorchestra.types import Json, ToolCall, ToolResult, Turn

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    # a strict schema has no place for an object with any keys
                    "arguments": {"type": "string", "description": "An object, as JSON text."},
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            },
        },
        "say": {"type": "string"},
        "is_done": {"type": "boolean"},
    },
    "required": ["calls", "say", "is_done"],
    "additionalProperties": False,
}
"""Of a reply."""
BEGIN = "The conversation begins. Say what you want."
SAID = "The assistant says:\n{said}"
SILENT = "The assistant says nothing."
GAVE = "Your calls gave:\n{results}"
NONE = "none"

_PLACE = re.compile(r"\{(instruction|scenario|functions)\}")


def system_text(system: str, goal: AnyGoal) -> str:
    """The configured prompt with what this user wants, knows and can do."""
    task = goal.task
    functions = [
        {"name": f.name, "description": f.description, "parameters": f.parameters}
        for f in goal.domain.user_functions.values()
    ]
    parts = {
        "instruction": task.instruction,
        "scenario": task.scenario.strip() or NONE,
        "functions": "\n".join(json.dumps(f, ensure_ascii=False) for f in functions) or NONE,
    }
    # one pass: a place that is spelt out in a text stays as it is
    return _PLACE.sub(lambda match: parts[match[1]], system).strip()


def opening_messages(system: str, goal: AnyGoal) -> list[Message]:
    """What a user is told who has not said anything yet, and is greeted."""
    return [
        Message(role="system", content=system_text(system, goal)),
        Message(role="user", content=SAID.format(said=goal.domain.greeting)),
    ]


def messages_of(system: str, goal: AnyGoal, opening: str, turns: Sequence[Turn]) -> list[Message]:
    """The conversation as its user sees it, which ends with a message that is to be answered.

    Args:
        system: The configured prompt.
        goal: Whose user is played.
        opening: What the user said first.
        turns: All so far.
    """
    begin = SAID.format(said=goal.domain.greeting) if goal.domain.greeting else BEGIN
    messages = [
        Message(role="system", content=system_text(system, goal)),
        Message(role="user", content=begin),
        spoken(opening),
    ]
    for turn in turns[:-1]:
        if (user := turn.user) is None:
            continue
        messages.append(_heard(turn))
        if user.calls:
            messages += called(user.calls, user.results)
        messages.append(spoken(user.text))
    return [*messages, _heard(turns[-1])]


def called(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[Message]:
    """Calls of the user as its own message, and what they gave."""
    asked = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]
    return [_reply(calls=asked), Message(role="user", content=GAVE.format(results=_told(results)))]


def spoken(text: str) -> Message:
    """What the user said, in the form of its replies."""
    return _reply(say=text)


def _reply(*, calls: Sequence[Json] = (), say: str = "") -> Message:
    value = {"calls": list(calls), "say": say, "is_done": False}
    return Message(role="assistant", content=json.dumps(value, ensure_ascii=False))


def _heard(turn: Turn) -> Message:
    said = without_control(said_in(turn))
    return Message(role="user", content=SAID.format(said=said) if said else SILENT)


def _told(results: Sequence[ToolResult]) -> str:
    return "\n".join(f"{result.name}: {result.content}" for result in results)
