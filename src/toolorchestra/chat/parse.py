"""Policy text to thinking, content and Hermes tool calls; whatever is wrong becomes words.

A call is read by a JSON decoder from its opening tag on, so that a closing tag inside a string ends
nothing. Nothing here raises: a fault is the policy's and is told to it, and a message that was cut
runs no call at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolorchestra.chat.arguments import unknown_tool
from toolorchestra.chat.strict_json import as_arguments, scan
from toolorchestra.types import CallError, Json, ToolCall

OPEN_THINK, CLOSE_THINK = "<think>", "</think>"
OPEN_CALL, CLOSE_CALL = "<tool_call>", "</tool_call>"
_TAG = re.compile("|".join((OPEN_THINK, CLOSE_THINK, OPEN_CALL, CLOSE_CALL)))
_COMPLETE = ("stop", "tool_calls")
_KEYS = ("name", "arguments")
_SHAPE = '{"name": ..., "arguments": {...}}'

_STRAY = CallError(message=f"{CLOSE_CALL} without {OPEN_CALL} before it", text=CLOSE_CALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedMessage:
    """What one policy message says."""

    thinking: str
    content: str
    """Text outside thinking and calls, stripped: the answer of a message without calls."""
    calls: tuple[ToolCall, ...]
    errors: tuple[CallError, ...]
    is_truncated: bool
    """Whether the message was cut; it then has no calls."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with calls whose arguments cannot be read, by their ids: see
    `toolorchestra.chat.reply`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    """What stands between call tags, and where it ends."""

    end: int
    calls: tuple[Json, ...] = ()
    error: CallError | None = None
    is_cut: bool = False


def parse_message(
    text: str,
    *,
    finish_reason: str | None,
    tool_names: Collection[str] | None = None,
    first_id: int = 0,
    is_thinking_open: bool = False,
) -> ParsedMessage:
    """Read one policy message. Never raises.

    Args:
        text: The message without its end marker.
        finish_reason: Why sampling ended; "stop" and a router's "tool_calls" complete a message.
        tool_names: Names that may be called; None leaves names unchecked.
        first_id: Number of the first call's id, "call_0" for 0: the rollout's calls so far.
        is_thinking_open: Whether the prompt opened a think block that the text goes on in.
    """
    if is_thinking_open and not text.lstrip().startswith(OPEN_THINK):
        text = OPEN_THINK + text
    thinking, said, blocks, is_open = _split(text)
    errors = [block.error for block in blocks if block.error]
    is_complete = finish_reason in _COMPLETE
    is_truncated = not is_complete or any(block.is_cut for block in blocks)
    if is_open and is_complete:
        errors.append(CallError(message=f"the message ends inside {OPEN_THINK}", text=text))
    if is_truncated and blocks and not any(block.is_cut for block in blocks):
        errors.append(_cut(text))
    calls: list[ToolCall] = []
    for value in (value for block in blocks for value in block.calls if not is_truncated):
        call = ToolCall(id=f"call_{first_id + len(calls)}", **value)
        if tool_names is None or call.name in tool_names:
            calls.append(call)
        else:
            errors.append(unknown_tool(call, tool_names))
    return ParsedMessage(
        thinking=thinking,
        content=said,
        calls=tuple(calls),
        errors=tuple(errors),
        is_truncated=is_truncated,
    )


def _split(text: str) -> tuple[str, str, list[_Block], bool]:
    """Thinking, content, call blocks in order, and whether a think block is left open."""
    thoughts: list[str] = []
    said: list[str] = []
    blocks: list[_Block] = []
    position = 0
    while match := _TAG.search(text, position):
        said.append(text[position : match.start()])
        position = match.end()
        if match.group() == OPEN_THINK:
            closing = text.find(CLOSE_THINK, position)
            thoughts.append(text[position : closing if closing >= 0 else len(text)])
            if closing < 0:
                return _joined(thoughts), "".join(said).strip(), blocks, True
            position = closing + len(CLOSE_THINK)
        elif match.group() == CLOSE_THINK:  # The prompt opened it: all so far is thinking.
            thoughts, said, blocks = [text[: match.start()].replace(OPEN_THINK, "")], [], []
        elif match.group() == OPEN_CALL:
            blocks.append(_block(text, match.start()))
            position = blocks[-1].end
        elif not blocks or blocks[-1].error is not _STRAY:
            blocks.append(_Block(end=position, error=_STRAY))
    said.append(text[position:])
    return _joined(thoughts), "".join(said).strip(), blocks, False


def _joined(thoughts: list[str]) -> str:
    return "\n\n".join(thought.strip("\n") for thought in thoughts)


def _block(text: str, start: int) -> _Block:
    """Read the call block whose opening tag stands at `start`."""
    values, faults, closing = _read(text, start + len(OPEN_CALL))
    if closing < 0:
        return _Block(end=len(text), error=_cut(text[start:]), is_cut=True)
    end = closing + len(CLOSE_CALL)
    calls = [_call(value, faults) for value in values]
    if faults:
        error = CallError(message=f"this call was not run: {faults[0]}", text=text[start:end])
        return _Block(end=end, error=error)
    return _Block(end=end, calls=tuple(calls))


def _read(text: str, start: int) -> tuple[list[Any], list[str], int]:
    """The JSON values of a block, what is wrong with it, and where its closing tag stands.

    The last is -1 where the block was cut.
    """
    values: list[Any] = []
    faults: list[str] = []
    position = _skip_space(text, start)
    while True:
        scanned = scan(text, position)
        if scanned.fault:
            faults.append(scanned.fault)
        if not scanned.is_decoded:
            if scanned.is_cut and not text.rstrip().endswith(CLOSE_CALL):
                return values, faults, -1
            # A string that ends nowhere may have swallowed the closing tag.
            resume = start if scanned.is_in_string else scanned.end
            return values, faults, text.find(CLOSE_CALL, resume)
        if not scanned.fault:
            values.append(scanned.value)
        position = _skip_space(text, scanned.end)
        if not text.startswith("{", position):
            break
    closing = text.find(CLOSE_CALL, position)
    if closing > position:
        faults.append("extra data after the call's JSON object")
    return values, faults, closing


def _call(value: Any, faults: list[str]) -> Json:
    """Name and arguments of a decoded call; what is wrong with them is added to `faults`."""
    if not isinstance(value, dict):
        faults.append(f"a call is one JSON object {_SHAPE}")
        return {}
    for key in _KEYS:
        if key not in value:
            faults.append(f"the key {key!r} is missing; it has {sorted(value)[:8]}; use {_SHAPE}")
    if extra := sorted(set(value) - set(_KEYS)):
        faults.append(f"the keys {extra[:8]} are not allowed; use {_SHAPE}")
    if faults:
        return {}
    name = value["name"]
    if not isinstance(name, str) or not name.strip():
        faults.append("the name must be a string that is not empty")
    try:
        return {"name": name, "arguments": as_arguments(value["arguments"])}
    except ValueError as error:
        faults.append(str(error))
        return {}


def _cut(text: str) -> CallError:
    return CallError(
        message="the message was cut before it ended, so none of its calls was run; "
        f"write less and close every {OPEN_CALL} with {CLOSE_CALL}",
        text=text,
    )


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
