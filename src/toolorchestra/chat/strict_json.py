"""JSON as a tool call may use it: finite numbers, unique keys, bounded size, no lone surrogates.

Python's decoder takes more than JSON allows and fails in several ways. Here a value that later code
could choke on (printing, schemas, tokenizers) is one `ValueError` that says what is wrong.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from toolorchestra.types import Json

MAX_DEPTH = 32
"""Levels of nesting that a call may have."""
MAX_CHARS = 1_000_000
"""Length that a call may have, in characters."""
_IN_STRING = ("Unterminated", "Invalid control", "Invalid \\")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scanned:
    """One JSON value found in a text, or why there is none."""

    value: Any = None
    end: int
    """First position after the value; where the decoder gave up when there is none."""
    fault: str = ""
    """What is wrong, in words; empty for a good value."""
    is_decoded: bool = False
    """Whether a value was read to its end, be it good or not."""
    is_cut: bool = False
    """Whether the text ended before the value did."""
    is_in_string: bool = False
    """Whether the decoder gave up inside a string, so that what follows may belong to it."""


class _Faults:
    """Collects what the decoder accepts but a call may not hold, so that its end is still found."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def constant(self, name: str) -> None:
        self.found.append(f"{name} is not JSON; numbers must be finite")

    def number(self, digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            self.found.append(f"the number {digits[:40]} is too large")
        return value

    def pairs(self, pairs: list[tuple[str, Any]]) -> Json:
        value = dict(pairs)
        if len(value) < len(pairs):
            twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            self.found.append(f"the key {json.dumps(twice[:40])} appears twice")
        return value


def scan(text: str, start: int) -> Scanned:
    """Decode the JSON value that begins at `start`. Never raises.

    Args:
        text: Any text.
        start: Position of the value's first character.
    """
    faults = _Faults()
    decoder = json.JSONDecoder(
        object_pairs_hook=faults.pairs, parse_float=faults.number, parse_constant=faults.constant
    )
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return _undecodable(text, error)
    except RecursionError:
        return Scanned(end=start, fault=f"nested more than {MAX_DEPTH} levels deep")
    except ValueError:  # int() refuses more than 4300 digits
        return Scanned(end=start, fault="a whole number has too many digits")
    fault = faults.found[0] if faults.found else _unfit(value, end - start)
    return Scanned(value=None if fault else value, end=end, fault=fault, is_decoded=True)


def _undecodable(text: str, error: json.JSONDecodeError) -> Scanned:
    hint = "; write a line break in a string as \\n" if "control character" in error.msg else ""
    is_in_string = error.msg.startswith(_IN_STRING)
    return Scanned(
        end=error.pos,
        fault=f"not valid JSON: {error.msg.removesuffix(' at')} at character {error.pos}{hint}",
        is_cut=error.msg.startswith("Unterminated") or not text[error.pos :].strip(),
        is_in_string=is_in_string,
    )


def _unfit(value: Any, num_chars: int) -> str:
    """Why a decoded value may not be used, or an empty string."""
    if num_chars > MAX_CHARS:
        return f"{num_chars} characters long; at most {MAX_CHARS} are allowed"
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            break
    else:
        return f"nested more than {MAX_DEPTH} levels deep"
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "holds a lone surrogate, which is not text"
    return ""


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def as_arguments(value: Any) -> Json:
    """A call's arguments as an object: text of an object is decoded once, null and "" give {}.

    Raises:
        ValueError: If the value is anything else; it says what was found.
    """
    if isinstance(value, str):
        if not value.strip():
            return {}
        scanned = scan(value.strip(), 0)
        if scanned.fault:
            raise ValueError(f"arguments: {scanned.fault}")
        if scanned.end < len(value.strip()):
            raise ValueError("arguments: extra data after the object")
        value = scanned.value
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"arguments must be an object; got {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")
