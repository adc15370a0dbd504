"""What a model's reply says in the user's name, or what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolorchestra.chat.strict_json import as_arguments, scan
from toolorchestra.types import Json

KEYS = {"calls", "say", "is_done"}
_FENCE = re.compile(r"```(?:json)?\s*(?P<body>.*?)\s*```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):
    """A reply that cannot be used; the message tells its model what to mend."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call of one of the user's functions, which may not exist."""

    name: str
    arguments: Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a reply says: calls, or words, or that it is done."""

    calls: tuple[Call, ...]
    text: str
    is_done: bool


def read_reply(text: str, *, max_calls: int, max_chars: int) -> Said:
    """Reads a reply that is whole and without thoughts.

    JSON counts where it is the whole reply, or what its only code fence holds.

    Args:
        text: The reply.
        max_calls: How many calls it may hold.
        max_chars: How long its words may be.

    Raises:
        Unreadable: It holds no such object, or more than it may.
    """
    value = _object_in(text)
    if set(value) != KEYS:
        raise Unreadable(f"the object has the keys {', '.join(value) or 'none'}; use {_keys()}")
    words, is_done = value["say"], value["is_done"]
    if not isinstance(words, str) or not isinstance(is_done, bool):
        raise Unreadable('"say" has to be a text, and "is_done" true or false')
    calls = _calls(value["calls"], max_calls)
    if calls:
        return Said(calls=calls, text="", is_done=False)
    if len(words) > max_chars:
        raise Unreadable(f'"say" has {len(words)} characters; use at most {max_chars}')
    if not words.strip() and not is_done:
        raise Unreadable('nothing is called or said; fill "calls" or "say", or set "is_done"')
    return Said(calls=(), text=words.strip(), is_done=is_done)


def _keys() -> str:
    return '"calls", "say" and "is_done"'


def _object_in(text: str) -> Json:
    fences = _FENCE.findall(text)
    body = (fences[0] if len(fences) == 1 else text).strip()
    scanned = scan(body, 0)
    if scanned.fault:
        raise Unreadable(f"the reply is no JSON object: {scanned.fault}")
    if body[scanned.end :].strip():
        raise Unreadable("something stands behind the JSON object; reply with the object alone")
    if not isinstance(scanned.value, dict):
        raise Unreadable(f"the reply is no JSON object; use one with {_keys()}")
    return scanned.value


def _calls(value: Any, max_calls: int) -> tuple[Call, ...]:
    if not isinstance(value, list):
        raise Unreadable('"calls" has to be a list')
    if len(value) > max_calls:
        raise Unreadable(f'"calls" holds {len(value)}; use at most {max_calls} in all')
    return tuple(map(_call, value))


def _call(value: Any) -> Call:
    if not isinstance(value, dict) or set(value) != {"name", "arguments"}:
        raise Unreadable('each of "calls" has to be an object with "name" and "arguments"')
    if not isinstance(value["name"], str):
        raise Unreadable('"name" has to be a text')
    try:
        arguments = as_arguments(value["arguments"])
    except ValueError as error:
        raise Unreadable(f"a call of {value['name'][:60]!r}: {error}") from error
    return Call(name=value["name"], arguments=arguments)
