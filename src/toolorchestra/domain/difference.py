"""What two databases say differently, after all that means nothing is taken out.

The canonical form has no volatile fields, money as one text per amount, unordered lists sorted and
absent fields left out. Records of a collection with a volatile key are told apart by what they say.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolorchestra.domain.database import Database, Key
from toolorchestra.domain.value import canonical_record, canonical_text

Canonical = dict[str, dict[Key, dict[str, Any]] | list[dict[str, Any]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One thing that the actual database says otherwise than the expected one."""

    kind: Literal["added", "removed", "changed"]
    """"added": only the actual database has the record; "removed": only the expected one."""
    collection: str
    key: Key | None
    """None where keys are volatile."""
    path: str = ""
    """Of a changed field, dotted; empty where the whole record is meant."""
    expected: Any = None
    actual: Any = None

    def __str__(self) -> str:
        place = self.collection if self.key is None else f"{self.collection} {self.key}"
        if self.kind == "added":
            return f"added {place}: {canonical_text(self.actual)}"
        if self.kind == "removed":
            return f"missing {place}: {canonical_text(self.expected)}"
        values = f"expected {_text(self.expected)}, got {_text(self.actual)}"
        return f"changed {place}.{self.path}: {values}"


def canonical(database: Database, *, without: Database | None = None) -> Canonical:
    """The one form that all databases share which mean the same; of a valid database.

    Args:
        database: The database.
        without: Leaves out the records that it shares with this one: a copy shares all that were
            not written since, so that comparing the two costs little.
    """
    form: Canonical = {}
    for name, collection in sorted(database.schema.collections.items()):
        records = {
            key: canonical_record(collection.fields, record)
            for key, record in database.records[name].items()
            if without is None or without.records[name].get(key) is not record
        }
        if collection.has_volatile_key:
            form[name] = sorted(records.values(), key=canonical_text)
        else:
            form[name] = dict(sorted(records.items()))
    return form


def digest(database: Database) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_text(canonical(database)).encode()).hexdigest()


def difference(expected: Database, actual: Database) -> tuple[Change, ...]:
    """What `actual` says otherwise than `expected`; empty where both mean the same.

    Both must have the same schema and be valid under it.
    """
    left, right = canonical(expected, without=actual), canonical(actual, without=expected)
    changes: list[Change] = []
    for name, before in left.items():
        after = right[name]
        if isinstance(before, dict) and isinstance(after, dict):
            changes += _keyed_changes(name, before, after)
        else:
            assert isinstance(before, list) and isinstance(after, list), "one schema"
            changes += _unkeyed_changes(name, before, after)
    return tuple(changes)


def _keyed_changes(
    name: str, before: dict[Key, dict[str, Any]], after: dict[Key, dict[str, Any]]
) -> Iterator[Change]:
    for key in sorted(before.keys() | after.keys()):
        if key not in after:
            yield Change(kind="removed", collection=name, key=key, expected=before[key])
        elif key not in before:
            yield Change(kind="added", collection=name, key=key, actual=after[key])
        else:
            for path, old, new in _field_changes(before[key], after[key], ""):
                yield Change(
                    kind="changed", collection=name, key=key, path=path, expected=old, actual=new
                )


def _field_changes(
    before: dict[str, Any], after: dict[str, Any], prefix: str
) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _field_changes(old, new, f"{prefix}{name}.")
        elif canonical_text(old) != canonical_text(new):
            yield prefix + name, old, new


def _unkeyed_changes(
    name: str, before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> Iterator[Change]:
    left = Counter(canonical_text(record) for record in before)
    right = Counter(canonical_text(record) for record in after)
    by_text = {canonical_text(record): record for record in [*before, *after]}
    for text in sorted((left - right).elements()):
        yield Change(kind="removed", collection=name, key=None, expected=by_text[text])
    for text in sorted((right - left).elements()):
        yield Change(kind="added", collection=name, key=None, actual=by_text[text])


def _text(value: Any) -> str:
    return "nothing" if value is None else canonical_text(value)
