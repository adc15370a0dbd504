"""From the free-form options of a tool file to the dataclass of the tool's kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def parse_options(kind: type[T], options: Mapping[str, Any], *, tool: str) -> T:
    """Build the dataclass `kind` from `options`, where absent keys take their defaults.

    Raises:
        ValueError: a key is unknown or missing, a value has the wrong type, or the dataclass
            refuses it; the message names the tool, the key, the value and what is allowed.
    """
    assert dataclasses.is_dataclass(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := [key for key in options if key not in fields]:
        raise ValueError(
            f"tool.{tool}.options: {unknown[0]!r} is not allowed; use {', '.join(fields)}"
        )
    for name, field in fields.items():
        is_needed = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        if is_needed and name not in options:
            raise ValueError(f"tool.{tool}.options.{name} is missing; give it a {field.type}")
    for key, value in options.items():
        if not _has_type(value, str(fields[key].type)):
            raise ValueError(
                f"tool.{tool}.options.{key}: {value!r} is not allowed; use a {fields[key].type}"
            )
    return kind(**options)


def _has_type(value: object, annotation: str) -> bool:
    """Whether `value` fits a field of a plain built-in, or of one or None; others pass."""
    kinds: dict[str, tuple[type, ...]] = {
        "str": (str,),
        "int": (int,),
        "float": (int, float),
        "bool": (bool,),
    }
    annotation, _, other = annotation.partition(" | ")
    if value is None and other == "None":
        return True
    if annotation not in kinds:
        return True
    return isinstance(value, kinds[annotation]) and (
        annotation == "bool" or not isinstance(value, bool)
    )
