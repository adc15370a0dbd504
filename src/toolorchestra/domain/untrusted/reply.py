"""What sandboxed functions answer, checked: it comes from code that nobody trusts.

It is read as JSON and as nothing else, and whatever it does not say in the one form that is
expected breaks the call. That records are what the schema allows is seen to by `call_function`, as
after every call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from toolorchestra.codec import from_json
from toolorchestra.domain.argument import read_annotation
from toolorchestra.domain.database import Database, Key, Place, Record
from toolorchestra.domain.fault import DomainBug, DomainError
from toolorchestra.domain.function import TypedFunction, parameters_schema
from toolorchestra.domain.json_text import read_json

T = TypeVar("T")

_MAX_DEPTH = 32
_MAX_FUNCTIONS = 256
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")


class BadReply(ValueError):
    """An answer that is not taken; the message says what "it", the function, did."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldArgument:
    """What is said of one argument of a function."""

    name: str
    annotation: Any
    description: str
    is_required: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldFunction:
    """What a function says of itself."""

    name: str
    description: str
    arguments: tuple[ToldArgument, ...]

    def __post_init__(self) -> None:
        names = [self.name, *(argument.name for argument in self.arguments)]
        for name in names:
            if not _NAME.fullmatch(name):
                raise ValueError(f"the name {name[:60]!r} is not allowed; use {_NAME.pattern}")
        if len(set(names[1:])) < len(names[1:]):
            raise ValueError("an argument stands twice")


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a file says that its functions are."""

    functions: tuple[ToldFunction, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """What a call says that it gave and did."""

    result: Any
    written: Mapping[str, Mapping[Key, Any]]
    """The new records by collection and key; null where one was taken out."""
    read: Mapping[str, tuple[Key, ...]]
    seen: Mapping[str, tuple[Key, ...]]


def read_told(content: bytes, run_of: Callable[[str], Callable[..., Any]]) -> list[TypedFunction]:
    """The functions of a file.

    Args:
        content: What the code inside answered.
        run_of: Gives what calls the function of a name.

    Raises:
        BadReply: The answer is none, or the file cannot be used.
    """
    value = _read_object(content)
    if isinstance(reason := value.get("broken"), str):
        raise BadReply(reason)
    told = _decode(Told, value)
    if len(told.functions) > _MAX_FUNCTIONS:
        raise BadReply(f"it has more than {_MAX_FUNCTIONS} functions")
    if len({one.name for one in told.functions}) < len(told.functions):
        raise BadReply("it has two functions of one name")
    return [_function(one, run_of(one.name)) for one in told.functions]


def _function(told: ToldFunction, run: Callable[..., Any]) -> TypedFunction:
    try:
        annotations = {one.name: read_annotation(one.annotation) for one in told.arguments}
    except ValueError as error:
        raise BadReply(f"function {told.name}: {error}") from None
    return TypedFunction(
        name=told.name,
        description=told.description,
        parameters=parameters_schema(
            annotations,
            {one.name: one.description for one in told.arguments},
            [one.name for one in told.arguments if one.is_required],
        ),
        annotations=annotations,
        run=run,
    )


def take_effect(content: bytes, database: Database, function: str) -> Any:
    """Do to `database` what a call did inside; gives its result.

    Raises:
        DomainError: The function refused.
        DomainBug: The function broke.
        BadReply: The answer is none. The database is as it was.
    """
    value = _read_object(content)
    match value:
        case {"refused": str(text)}:
            raise DomainError(text)
        case {"bug": str(text)}:
            raise DomainBug(text)
        case {"broken": str(text)}:
            raise DomainBug(f"{function} broke: {text}")
    effect = _decode(Effect, value)
    changes: dict[Place, Record | None] = {}
    for name, records in effect.written.items():
        for key, record in records.items():
            if record is not None and not isinstance(record, dict):
                raise BadReply(f"it wrote {name[:60]} {key[:60]}, which is no record")
            changes[name, key] = record
    read, seen = _places(effect.read), _places(effect.seen)
    for name, key in (*changes, *read, *seen):
        if name not in database.schema.collections:
            raise BadReply(f"it names {name[:60]!r}, which is no collection")
        if (name, key) not in changes and not database.has(name, key):
            raise BadReply(f"it names {key[:60]!r}, which is not in {name}")
    database.take_over(changes, read=read, seen=seen)
    return effect.result


def _places(keys: Mapping[str, tuple[Key, ...]]) -> list[Place]:
    return [(name, key) for name, theirs in keys.items() for key in theirs]


def _decode(kind: type[T], value: dict[str, Any]) -> T:
    try:
        return from_json(kind, value, "it")
    except ValueError as error:
        raise BadReply(f"it gave no reply: {error}") from None


def _read_object(content: bytes) -> dict[str, Any]:
    try:
        value = read_json(content.decode("utf-8"))
    except ValueError as error:
        raise BadReply(f"it gave no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadReply("it gave JSON that is no reply")
    _check_plain(value, 0)
    return value


def _check_plain(value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise BadReply(f"it gave JSON that is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_plain(item, depth + 1)
