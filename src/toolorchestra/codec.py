"""Records to JSON values and back, driven by their type annotations.

Everything that lies on disk (episodes, rollouts, tasks) is one of the frozen dataclasses of
`toolorchestra.types`. One strict codec serves them all: what was written reads back equal, and
a file that was damaged or edited by hand fails with the path of the first wrong value.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_Decode = Callable[[Any, str], Any]
_SCALARS = (bool, int, str, type(None))


def to_json(value: Any, path: str = "") -> Any:
    """Turn a record, or a container of records, into values that `json.dumps` takes.

    Args:
        value: A dataclass instance, mapping with string keys, tuple, list or scalar.
        path: What to call `value` in an error; its class name where empty.

    Returns:
        Dicts, lists and scalars. All fields are written, defaults too.

    Raises:
        ValueError: For a value that JSON cannot hold (a set, NaN, a key that is no string).
    """
    path = path or type(value).__name__
    if type(value) in _SCALARS:
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"{path}: {value} cannot be written as JSON; numbers must be finite")
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return {name: to_json(getattr(value, name), f"{path}.{name}") for name in names}
    if isinstance(value, Mapping):
        return {_key(k, path): to_json(v, f"{path}.{k}") for k, v in value.items()}
    if isinstance(value, list | tuple):
        if all(type(item) in _SCALARS for item in value):  # long, and plain
            return list(value)
        return [to_json(item, f"{path}[{i}]") for i, item in enumerate(value)]
    raise ValueError(f"{path}: a {type(value).__name__} cannot be written as JSON")


def fingerprint(value: Any) -> str:
    """Names a JSON value: equal for equal ones, in whatever order keys come.

    Returns:
        16 hexadecimal digits of a SHA-256.
    """
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def from_json(kind: type[T], value: Any, path: str = "") -> T:
    """Rebuild a record of class `kind` from what `to_json` made of it.

    Args:
        kind: The record's class, e.g. `Rollout`.
        value: The JSON value, as `json.loads` returns it.
        path: What to call `value` in an error; the name of `kind` where empty.

    Returns:
        An instance equal to the one that was written.

    Raises:
        ValueError: For a missing or unknown key or a wrong type, naming the path and the value.
    """
    decode: _Decode = _decoder(cast(Any, kind))
    return cast(T, decode(value, path or kind.__name__))


@functools.cache
def _decoder(kind: Any) -> _Decode:
    """The function that checks and builds values of the annotation `kind`."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value, path: value
    if dataclasses.is_dataclass(kind):
        return _record_decoder(cast(type, kind))
    if origin is Literal:
        return _literal_decoder(args)
    if origin in (Union, types.UnionType):
        return _optional_decoder(args)
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return _sequence_decoder(tuple, args[0])
    if origin is list:
        return _sequence_decoder(list, args[0])
    if origin in (dict, Mapping) and args[0] is str:
        return _mapping_decoder(args[1])
    if kind is float:
        return _decode_float
    assert kind in (bool, int, str), f"no codec for the annotation {kind}"
    return _scalar_decoder(kind)


def _record_decoder(kind: type) -> _Decode:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(path, "an object", value)
        if missing := [name for name in names if name not in value]:
            raise ValueError(
                f"{path}: key {missing[0]!r} is missing: the file was damaged, or written by "
                "another version of toolorchestra"
            )
        if unknown := [key for key in value if key not in hints]:
            raise ValueError(f"{path}: key {unknown[0]!r} is unknown; use {', '.join(names)}")
        fields = {name: _decoder(hints[name])(value[name], f"{path}.{name}") for name in names}
        try:
            return kind(**fields)
        except (AssertionError, ValueError) as error:  # the record's own check of its fields
            raise ValueError(f"{path}: {error}") from error

    return decode


def _literal_decoder(allowed: tuple[Any, ...]) -> _Decode:
    def decode(value: Any, path: str) -> Any:
        if value not in allowed:
            raise _wrong(path, "one of " + ", ".join(map(str, allowed)), value)
        return value

    return decode


def _optional_decoder(kinds: tuple[Any, ...]) -> _Decode:
    others = [kind for kind in kinds if kind is not type(None)]
    assert len(others) == 1 and len(kinds) == 2, f"only `X | None` has a codec, not {kinds}"
    inner = _decoder(others[0])
    return lambda value, path: None if value is None else inner(value, path)


def _sequence_decoder(build: Callable[[Any], Any], kind: Any) -> _Decode:
    inner = _decoder(kind)

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, list):
            raise _wrong(path, "a list", value)
        if kind in (int, str) and all(type(item) is kind for item in value):  # long, and plain
            return build(value)
        return build([inner(item, f"{path}[{i}]") for i, item in enumerate(value)])

    return decode


def _mapping_decoder(kind: Any) -> _Decode:
    inner = _decoder(kind)

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(path, "an object", value)
        return {key: inner(item, f"{path}.{key}") for key, item in value.items()}

    return decode


def _decode_float(value: Any, path: str) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise _wrong(path, "a finite number", value)
    return float(value)


def _scalar_decoder(kind: type) -> _Decode:
    expected = {bool: "true or false", int: "an integer", str: "a string"}[kind]

    def decode(value: Any, path: str) -> Any:
        if type(value) is not kind:  # not isinstance: True is no integer here
            raise _wrong(path, expected, value)
        return value

    return decode


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{path}: key {key!r} cannot be written as JSON; keys must be strings")
    return key


def _wrong(path: str, expected: str, value: Any) -> ValueError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return ValueError(f"{path}: expected {expected}; got {shown}")
