"""The arguments of a domain's functions: what an annotation means in JSON, and back.

A policy writes JSON. What it wrote is turned into what the function's annotation says, or refused
with a sentence that tells it what to write.
"""

from __future__ import annotations

import datetime
import types
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin

from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.value import is_date, money

_SCHEMAS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    Decimal: {"type": "string", "pattern": r"^-?\d+(\.\d+)?$"},
    datetime.date: {"type": "string", "format": "date"},
}


def _without_none(annotation: Any) -> Any:
    """The X of `X | None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        others = [kind for kind in get_args(annotation) if kind is not type(None)]
        if len(others) == 1:
            return others[0]
    return annotation


def json_schema(annotation: Any) -> dict[str, Any]:
    """The JSON schema of an argument annotated so.

    Raises:
        TypeError: a function of a domain cannot take such an argument.
    """
    annotation = _without_none(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal and all(isinstance(one, str) for one in args):
        return {"type": "string", "enum": list(args)}
    if origin is list:
        return {"type": "array", "items": json_schema(args[0])}
    if annotation in _SCHEMAS:
        return dict(_SCHEMAS[annotation])
    raise TypeError(
        f"the annotation {annotation} is not allowed; use str, int, bool, Decimal, date, a Literal "
        "of texts, or a list of these"
    )


def read_argument(annotation: Any, value: Any, name: str) -> Any:
    """What a function receives for the JSON `value`.

    Raises:
        DomainError: the value is none that `annotation` allows.
    """
    inner = _without_none(annotation)
    if value is None and inner is not annotation:
        return None
    if get_origin(inner) is Literal:
        if value not in get_args(inner):
            raise _wrong(name, "one of " + ", ".join(get_args(inner)), value)
        return value
    if get_origin(inner) is list:
        if not isinstance(value, list):
            raise _wrong(name, "a list", value)
        kind = get_args(inner)[0]
        return [read_argument(kind, item, f"{name}[{i}]") for i, item in enumerate(value)]
    return _read_scalar(inner, value, name)


def _read_scalar(kind: Any, value: Any, name: str) -> Any:
    if kind is Decimal:
        return _read_money(value, name)
    if kind is datetime.date:
        if not isinstance(value, str) or not is_date(value):
            raise _wrong(name, 'a date such as "2031-05-14"', value)
        return datetime.date.fromisoformat(value)
    if type(value) is not kind:  # not isinstance: True is no whole number
        word = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
        raise _wrong(name, word, value)
    return value


def _read_money(value: Any, name: str) -> Decimal:
    # A policy may well write 10.5: its shortest decimal text is what it meant.
    text = str(value) if type(value) in (int, float) else value
    try:
        if isinstance(text, str):
            return money(text)
    except ValueError:
        pass
    raise _wrong(name, 'an amount such as "10.50"', value)


def _wrong(name: str, expected: str, value: Any) -> DomainError:
    shown = repr(value)
    return DomainError(f"{name}: expected {expected}; got {shown[:60]}")


_WORDS: dict[Any, str] = {
    str: "text",
    int: "whole",
    bool: "yes_no",
    Decimal: "money",
    datetime.date: "date",
}
_BY_WORD = {word: kind for kind, word in _WORDS.items()}
_MAX_DEPTH = 8


def told_annotation(annotation: Any) -> Any:
    """An annotation that `json_schema` allows as a JSON value, which `read_annotation` reads."""
    inner = _without_none(annotation)
    if inner is not annotation:
        return ["optional", told_annotation(inner)]
    if get_origin(inner) is Literal:
        return ["choice", *get_args(inner)]
    if get_origin(inner) is list:
        return ["list", told_annotation(get_args(inner)[0])]
    return _WORDS[inner]


def read_annotation(told: Any, depth: int = 0) -> Any:
    """The annotation that `told_annotation` told of.

    Raises:
        ValueError: it did not.
    """
    if isinstance(told, str) and told in _BY_WORD:
        return _BY_WORD[told]
    match told:
        case ["optional", inner] if depth < _MAX_DEPTH:
            return read_annotation(inner, depth + 1) | None
        case ["list", inner] if depth < _MAX_DEPTH:
            return list[read_annotation(inner, depth + 1)]  # type: ignore[misc]
        case ["choice", *texts] if texts and all(isinstance(text, str) for text in texts):
            return Literal[tuple(texts)]
    shown = repr(told[:60]) if isinstance(told, str) else f"a {type(told).__name__} of this kind"
    raise ValueError(f"{shown} is no annotation")


def told_argument(value: Any) -> Any:
    """A value that `read_argument` gave as the JSON value that it was read of."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return [told_argument(item) for item in value] if isinstance(value, list) else value
