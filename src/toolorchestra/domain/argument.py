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
