"""JSON as files and sandboxed functions write it, read strictly: one value for one text."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str) -> Any:
    """The value of `text`.

    Raises:
        ValueError: it is no JSON, says NaN or infinity, gives a name twice in one object, holds
            half a character, or is nested too deeply.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_no_duplicates)
        if "\\ud" in text.casefold():
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("holds half a character: a surrogate that stands alone") from None
    return value


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return value
