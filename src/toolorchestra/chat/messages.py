"""The messages that a policy sees: how an episode is put into words, and how history is written.

An episode becomes a system and a user message plus one OpenAI function schema a tool. The schema's
description carries what the policy must weigh: the price and the time of a typical call.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from toolorchestra.chat.strict_json import as_arguments
from toolorchestra.domain.goal import goal_of
from toolorchestra.toolset.offer import ARGUMENTS
from toolorchestra.types import Episode, Json, OfferedTool, ToolCall, ToolResult

STYLES = ("full", "compact")
"""full: each tool's JSON schema; compact: no parameters where all default to the question."""


def episode_messages(episode: Episode, system_prompt: str) -> list[Json]:
    """First messages of a rollout: the system prompt (if any), then the question and preference.

    Args:
        episode: What to solve. Its instruction, when not empty, gets a line of its own, and how the
            task is to be answered, where it says so, a paragraph.
        system_prompt: Text of the system message; empty for none. The rules of the task's domain
            follow it.

    Returns:
        One or two chat messages.
    """
    question = question_text(episode.task.question, episode.preference.instruction)
    if form := episode.task.metadata.get("answer_form", ""):
        question = f"{question}\n\n{form}"
    goal = goal_of(episode.task)
    if goal is not None:
        system_prompt = f"{system_prompt}\n\n{goal.domain.policy}".strip()
    return opening_messages(question, system_prompt)


def question_text(question: str, instruction: str) -> str:
    """A question and, on a line of its own, what the user prefers; empty for nothing."""
    instruction = instruction.strip()
    return f"{question}\nPreference: {instruction}" if instruction else question


def opening_messages(text: str, system_prompt: str) -> list[Json]:
    """A user's message, after the system's where there is one."""
    user: Json = {"role": "user", "content": text}
    return [{"role": "system", "content": system_prompt}, user] if system_prompt else [user]


def tool_schemas(offered: Sequence[OfferedTool], *, style: str) -> list[Json]:
    """OpenAI function schemas of the offered tools, in their order.

    Args:
        offered: The tools of one episode.
        style: One of `STYLES`.

    Raises:
        ValueError: If the style is unknown.
    """
    if style not in STYLES:
        raise ValueError(f"tool schema style: {style!r} is not allowed; use {' or '.join(STYLES)}")
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": describe(tool),
                "parameters": tool.parameters
                if style == "full" or not _asks_by_default(tool)
                else {"type": "object", "properties": {}},
            },
        }
        for tool in offered
    ]


def _asks_by_default(tool: OfferedTool) -> bool:
    """Whether all arguments default to the question, so that a call needs no more than a name."""
    properties = tool.parameters.get("properties", {})
    return not tool.parameters.get("required") and properties.keys() <= set(ARGUMENTS.values())


def describe(tool: OfferedTool) -> str:
    """What the policy reads of a tool, e.g. "GPT-5, generalist. math 5. 2.1 cents, 60 s."."""
    said = sentence(tool.description)
    cents = two_digits(100 * tool.call_cost_usd)
    unit = "cent" if cents == "1" else "cents"
    return f"{said} {cents} {unit}, {two_digits(tool.latency_s)} s.".lstrip()


def sentence(text: str) -> str:
    """A text that ends with a full stop, unless it is empty or ends as a sentence does."""
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def two_digits(amount: float) -> str:
    """An amount with two significant digits, never in scientific notation."""
    digits = format(Decimal(f"{amount:.1e}"), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def assistant_message(*, thinking: str, content: str, calls: Sequence[ToolCall]) -> Json:
    """A policy message as history for a chat template, its arguments as objects.

    Args:
        thinking: Text between the think tags; empty for none.
        content: Text outside thinking and calls.
        calls: The calls of the message, in order.
    """
    message: Json = {"role": "assistant", "content": content}
    if thinking:
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return message


def tool_message(result: ToolResult) -> Json:
    """A tool's result as a chat message."""
    return {
        "role": "tool",
        "tool_call_id": result.call_id,
        "name": result.name,
        "content": result.content,
    }


def with_object_arguments(message: Json) -> Json:
    """The message with every call's arguments as an object, whatever form they were stored in.

    JSON text is decoded once, null and "" become {}: otherwise a template would quote them twice.

    Raises:
        ValueError: If arguments are neither an object nor text of one; it names the tool.
    """
    calls: Any = message.get("tool_calls")
    if not calls:
        return message
    normalised = []
    for call in calls:
        function = call.get("function") or call
        try:
            arguments = as_arguments(function.get("arguments"))
        except ValueError as error:
            raise ValueError(f"history call to {function.get('name')!r}: {error}") from error
        function = {**function, "arguments": arguments}
        normalised.append({**call, "function": function} if call.get("function") else function)
    return {**message, "tool_calls": normalised}


def answer_of(text: str) -> str:
    """The final answer in a message's content; finding it within prose is the matcher's work."""
    return text.strip()
