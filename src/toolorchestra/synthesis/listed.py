"""Replies that are a list under one name: what can be used of it, and what is wrong with the rest.

One bad item leaves the others: the model is told which, and what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from toolorchestra.synthesis.ask import Reading, check_writable, json_of

T = TypeVar("T")

AGAIN = "Write the whole reply again."
_SHOWN_FAULTS = 10
_SHOWN_CHARS = 500


class Unfit(ValueError):
    """Why an item cannot be used."""

    def __init__(self, reason: str, *, kind: str) -> None:
        """Says why, and what kind of reason that is."""
        super().__init__(reason)
        self.kind = kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An item that cannot be used."""

    where: str
    """e.g. "pairs[3]"."""
    kind: str
    reason: str
    said: str
    """The beginning of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed(Generic[T]):
    """What one reply holds: each item that can be used with its place, and the others."""

    items: tuple[tuple[str, T], ...]
    refused: tuple[Refused, ...]


def read_list(said: str, key: str, take: Callable[[Any, str], T]) -> Reading[Listed[T]]:
    """The good items of a reply; what is wrong with the others is told to the model.

    Args:
        said: The reply.
        key: The one name of the object that it has to be.
        take: Makes something of an item, given its place, or raises ValueError.
    """
    try:
        value = json_of(said)
        if not isinstance(value, dict) or list(value) != [key]:
            raise ValueError(f'the reply is not an object with the one key "{key}"')
        if not isinstance(value[key], list) or not value[key]:
            raise ValueError(f"{key}: expected a list that is not empty")
    except ValueError as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")
    items, refused = list[tuple[str, T]](), list[Refused]()
    for index, item in enumerate(value[key]):
        where = f"{key}[{index}]"
        try:
            taken = take(item, where)
            check_writable(item)
            items.append((where, taken))
        except (ValueError, RecursionError) as error:  # nested without end, too
            kind = error.kind if isinstance(error, Unfit) else "form"
            refused.append(Refused(where=where, kind=kind, reason=str(error), said=shown(item)))
    return Reading(
        value=Listed(items=tuple(items), refused=tuple(refused)), fault=_told(key, refused)
    )


def shown(item: Any) -> str:
    """The beginning of a JSON value."""
    try:
        return json.dumps(item)[:_SHOWN_CHARS]
    except RecursionError:
        return "nested without end"


def _told(key: str, refused: Sequence[Refused]) -> str:
    if not refused:
        return ""
    lines = [f"- {item.where}: {item.reason}" for item in refused]
    return "\n".join([f"Some {key} cannot be used:", *lines[:_SHOWN_FAULTS], AGAIN])
