"""What a domain's records look like: collections of records with a key and typed fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

from toolorchestra.codec import from_json
from toolorchestra.domain.fault import BadDomain

Kind = Literal["text", "whole", "money", "date", "yes_no", "choice", "list", "reference", "record"]
_KEY_KINDS = ("text", "reference")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One field of a record, or the items of a list."""

    kind: Kind
    description: str = ""
    optional: bool = False
    """Whether the field may be absent or null; these are the same."""
    volatile: bool = False
    """Left out when two databases are compared, e.g. a timestamp or a generated number."""
    unique: bool = False
    """Whether no two records of the collection may share the value."""
    ordered: bool = True
    """Of a list: whether the order of its items means something."""
    choices: tuple[str, ...] = ()
    to: str | None = None
    """Of a reference: the collection that holds the record with this key."""
    of: Field | None = None
    """Of a list: its items."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    """Of a nested record."""

    def __post_init__(self) -> None:
        needs = {"choice": "choices", "reference": "to", "list": "of", "record": "fields"}
        for kind, name in needs.items():
            if bool(getattr(self, name)) != (self.kind == kind):
                word = "needs" if self.kind == kind else "takes no"
                raise ValueError(f"a {self.kind} field {word} {name!r}")
        if self.kind != "list" and not self.ordered:
            raise ValueError(f"a {self.kind} field takes no 'ordered'")
        if self.unique and self.kind in ("list", "record"):
            raise ValueError(f"a {self.kind} field cannot be unique")
        if self.of is not None and (self.of.optional or self.of.volatile or self.of.unique):
            raise ValueError("the items of a list cannot be optional, volatile or unique")
        _check_names(self.fields)


@dataclass(frozen=True, kw_only=True, slots=True)
class Collection:
    """Records of one form, told apart by the field `key`."""

    key: str
    description: str = ""
    fields: Mapping[str, Field]

    def __post_init__(self) -> None:
        if self.key not in self.fields:
            raise ValueError(f"the key {self.key!r} is no field; use {', '.join(self.fields)}")
        key = self.fields[self.key]
        if key.kind not in _KEY_KINDS or key.optional:
            raise ValueError(f"the key {self.key!r} must be of {', '.join(_KEY_KINDS)}, always set")
        _check_names(self.fields)

    @property
    def has_volatile_key(self) -> bool:
        """Whether records are told apart by what they say, as their key is generated."""
        return self.fields[self.key].volatile


@dataclass(frozen=True, kw_only=True, slots=True)
class Schema:
    """All collections of a domain."""

    collections: Mapping[str, Collection]

    def __post_init__(self) -> None:
        if not self.collections:
            raise ValueError("a schema needs a collection")
        _check_names(self.collections)
        for name, collection in self.collections.items():
            for path, one in walk_fields(collection.fields):
                if one.to is not None:
                    self._check_target(f"{name}.{path}", one.to)

    @property
    def targets(self) -> frozenset[str]:
        """The collections that a reference leads to."""
        return frozenset(
            one.to
            for collection in self.collections.values()
            for _, one in walk_fields(collection.fields)
            if one.to is not None
        )

    def _check_target(self, place: str, target: str) -> None:
        if target not in self.collections:
            known = ", ".join(self.collections)
            raise ValueError(f"{place} refers to {target!r}, which is no collection; use {known}")
        if self.collections[target].has_volatile_key:
            raise ValueError(
                f"{place} refers to {target!r}, whose key is volatile: the reference would mean "
                "nothing when two databases are compared"
            )


def _check_names(names: Mapping[str, Any]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"the name {name!r} is not allowed; use {_NAME.pattern}")


def walk_fields(
    fields_by_name: Mapping[str, Field], prefix: str = ""
) -> Iterator[tuple[str, Field]]:
    """All fields with their dotted paths, those within lists and nested records too."""
    for name, one in fields_by_name.items():
        yield from _walk_field(prefix + name, one)


def _walk_field(path: str, one: Field) -> Iterator[tuple[str, Field]]:
    yield path, one
    if one.of is not None:
        yield from _walk_field(f"{path}[]", one.of)
    yield from walk_fields(one.fields, f"{path}.")


def with_defaults(kind: type, value: Any) -> Any:
    """`value`, an object of a file, with the keys it leaves out at the defaults of `kind`."""
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for one in fields(kind):
        if one.name in filled or (one.default is MISSING and one.default_factory is MISSING):
            continue
        default = one.default if one.default is not MISSING else {}
        filled[one.name] = [] if default == () else default
    return filled


def _filled_field(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    value = with_defaults(Field, value)
    return {**value, "of": _filled_field(value["of"]), "fields": _filled_fields(value["fields"])}


def _filled_fields(value: Any) -> Any:
    return {k: _filled_field(v) for k, v in value.items()} if isinstance(value, dict) else value


def parse_schema(value: Any) -> Schema:
    """The schema that the JSON value of a `schema.json` describes.

    Raises:
        BadDomain: a key is missing, unknown or of the wrong type, or names what is not there.
    """
    collections = value.get("collections") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(collections, dict):
        filled = {name: with_defaults(Collection, one) for name, one in collections.items()}
        for one in filled.values():
            if isinstance(one, dict) and "fields" in one:
                one["fields"] = _filled_fields(one["fields"])
        value = {**value, "collections": filled}
    try:
        return from_json(Schema, value, "schema")
    except ValueError as error:
        raise BadDomain(str(error)) from error
