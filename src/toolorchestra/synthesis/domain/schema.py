"""What the domain's records look like: the second stage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.fault import BadDomain
from toolorchestra.domain.schema import Schema, parse_schema
from toolorchestra.synthesis.ask import Reading, record_of
from toolorchestra.synthesis.domain.subjects import Plan
from toolorchestra.synthesis.domain.workshop import Workshop
from toolorchestra.synthesis.json_form import TEXT, WHOLE, YES_NO, list_of, object_of, or_null
from toolorchestra.synthesis.listed import AGAIN

STAGE = "schema"
_SCALARS = ("text", "whole", "money", "date", "yes_no", "choice", "reference")
SYSTEM = """
You design the database of a domain: collections of records, each with a key and typed fields.
Kinds of field: text; whole (a whole number); money (decimal text such as "10.50"); date (such as
"2031-05-14"); yes_no; choice (of the texts in "choices"); reference (the key of a record of the
collection "to"); list (of items of the kind "of", with "choices" or "to" where these need it).
Names are lower-case words joined by "_". The key is a text or a reference that is always set.
"optional": the field may be null. "unique": no two records share the value. "volatile": it means
nothing when two databases are compared, as a number that a function makes up. "ordered": of a list,
whether the order of its items means something; true for all other fields. "num_records": how many
records the collection has to begin with, 0 for what only functions add. One collection has a single
record, with today's date and the figures that the domain's rules need: nothing else tells the date.
References do not go round in a circle, unless one in it is optional. Reply with JSON alone.
"""
DEMO: Any = {
    "collections": [
        {
            "name": "desk",
            "key": "desk_id",
            "description": "One record: what holds for everybody.",
            "num_records": 1,
            "fields": [
                {
                    "name": "desk_id", "kind": "text", "description": "", "optional": False,
                    "unique": False, "volatile": False, "ordered": True, "choices": [],
                    "to": None, "of": None,
                }
            ],
        }
    ]
}  # fmt: skip
"""What the writer is shown of the form: part of a library's desk."""

_KIND = {"type": "string", "enum": [*_SCALARS, "list"]}
_FIELD = object_of(
    {
        "name": TEXT,
        "kind": _KIND,
        "description": TEXT,
        "optional": YES_NO,
        "unique": YES_NO,
        "volatile": YES_NO,
        "ordered": YES_NO,
        "choices": list_of(TEXT),
        "to": or_null(TEXT),
        "of": or_null({"type": "string", "enum": list(_SCALARS)}),
    }
)
_COLLECTION = object_of(
    {
        "name": TEXT,
        "key": TEXT,
        "description": TEXT,
        "num_records": WHOLE,
        "fields": list_of(_FIELD),
    }
)
SCHEMA = object_of({"collections": list_of(_COLLECTION)})


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldForm:
    """A field as a model writes it: strict schemas name every key, so all are there."""

    name: str
    kind: str
    description: str
    optional: bool
    unique: bool
    volatile: bool
    ordered: bool
    choices: tuple[str, ...]
    to: str | None
    of: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectionForm:
    """A collection as a model writes it."""

    name: str
    key: str
    description: str
    num_records: int
    fields: tuple[FieldForm, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaForm:
    """A schema as a model writes it."""

    collections: tuple[CollectionForm, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Design:
    """The schema, as it is and as its file says it, and how many records there are to be."""

    schema: Schema
    value: Mapping[str, Any]
    num_records: Mapping[str, int]


def request(name: str, about: Plan) -> str:
    """Asks for a schema."""
    subjects = "\n".join(f"- {one.name}: {one.description}" for one in about.subjects)
    return (
        f"Domain: {name}\nAbout: {about.about}\nSubjects:\n{subjects}\n\n"
        f"The form, with the beginning of another domain's schema:\n{json.dumps(DEMO)}\n\n"
        "Write the schema that functions for all these subjects need."
    )


def read(said: str) -> Reading[Design]:
    """The design of a reply."""
    try:
        form = record_of(SchemaForm, said)
        names = [one.name for one in form.collections]
        if len(set(names)) < len(names):
            raise ValueError("two collections have the same name")
        value = {"collections": {one.name: _collection_value(one) for one in form.collections}}
        schema = parse_schema(value)
        if circle := required_circle(schema):
            raise ValueError(f"references go round in a circle, {' -> '.join(circle)}")
        if bad := [one for one in form.collections if one.num_records < 0]:
            raise ValueError(f"{bad[0].name}.num_records: {bad[0].num_records} is below 0")
        if not any(one.num_records for one in form.collections):
            raise ValueError("no collection has records")
    except (BadDomain, ValueError) as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")
    counts = {one.name: one.num_records for one in form.collections}
    return Reading(value=Design(schema=schema, value=value, num_records=counts))


def _collection_value(form: CollectionForm) -> dict[str, Any]:
    names = [one.name for one in form.fields]
    if len(set(names)) < len(names):
        raise ValueError(f"{form.name}: two fields have the same name")
    fields = {one.name: _field_value(one) for one in form.fields}
    return {"key": form.key, "description": form.description, "fields": fields}


def _field_value(form: FieldForm) -> dict[str, Any]:
    """The field as `schema.json` has it: without what is at its default."""
    target = {
        **({"choices": list(form.choices)} if form.choices else {}),
        **({"to": form.to} if form.to else {}),
    }
    value: dict[str, Any] = {"kind": form.kind}
    if form.description:
        value["description"] = form.description
    value |= {name: True for name in ("optional", "unique", "volatile") if getattr(form, name)}
    if not form.ordered:
        value["ordered"] = False
    if form.kind == "list":
        return {**value, "of": {"kind": form.of, **target}}
    return {**value, **target, **({"of": {"kind": form.of}} if form.of else {})}


def required_circle(schema: Schema) -> list[str]:
    """Collections each of which needs a record of the next to begin with; empty: there are none."""
    needs = {name: needed_by(schema, name) for name in schema.collections}
    for start in needs:
        path, seen = [start], set[str]()
        while path:
            target = next((one for one in needs[path[-1]] if one not in seen), None)
            if target == start:
                return [*path, start]
            if target is None:
                path.pop()
            else:
                seen.add(target)
                path.append(target)
    return []


def needed_by(schema: Schema, name: str) -> list[str]:
    """The collections without which a record of `name` cannot be; a list may be empty."""
    fields = schema.collections[name].fields.values()
    return [one.to for one in fields if one.to is not None and not one.optional]


async def design(shop: Workshop, about: Plan) -> Design:
    """Has the schema written.

    Raises:
        NothingUsable: No reply can be used.
    """
    text = request(shop.name, about)
    found = await shop.must(STAGE, SYSTEM, text, read, json_schema=SCHEMA)
    lines = [{"name": name, **one} for name, one in found.value["collections"].items()]
    shop.journal.close(STAGE, lines, [])
    most = shop.counts.records
    counts = {name: min(number, most) for name, number in found.num_records.items()}
    return Design(schema=found.schema, value=found.value, num_records=counts)
