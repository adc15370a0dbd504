"""Whether a database is what its schema says: types, keys, unique values and references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolorchestra.domain.database import Database, Key, Place, Record
from toolorchestra.domain.schema import Collection
from toolorchestra.domain.value import canonical_value, record_problems, references

Owners = dict[tuple[str, Any], list[Key]]
"""The keys of the records that have a value in a unique field, by field and value."""


def database_problems(database: Database) -> Iterator[tuple[Place, str]]:
    """All that the schema forbids: the record, and a sentence that names the field and why."""
    for name in database.schema.collections:
        owners = _owners(database, name)
        for key in database.records[name]:
            for problem in _record_problems(database, name, key):
                yield (name, key), problem
            for problem in _shared_values(owners, name, key):
                yield (name, key), problem


def written_problems(database: Database) -> Iterator[tuple[Place, str]]:
    """What the schema forbids after writes to a database that was as it should be."""
    targets = database.schema.targets
    if any(name in targets and not database.has(name, key) for name, key in database.written):
        yield from database_problems(database)  # anything may have referred to what was removed
        return
    owners = {name: _owners(database, name) for name, _ in database.written}
    for name, key in sorted(database.written):
        if database.has(name, key):
            for problem in _record_problems(database, name, key):
                yield (name, key), problem
            for (field_name, value), keys in owners[name].items():
                if key in keys and len(keys) > 1:
                    yield (name, key), f"{name} {key}.{field_name}: {value!r} must be unique"


def _record_problems(database: Database, name: str, key: Key) -> list[str]:
    collection, record = database.schema.collections[name], database.records[name][key]
    problems = list(record_problems(collection.fields, record, f"{name} {key}"))
    if problems:  # what follows takes the types for granted
        return problems
    if record[collection.key] != key:
        changed = f"the key was changed to {record[collection.key]!r}"
        problems.append(f"{name} {key}.{collection.key}: {changed}")
    return problems + list(_broken_references(database, collection, record, f"{name} {key}"))


def _broken_references(
    database: Database, collection: Collection, record: Record, path: str
) -> Iterator[str]:
    for name, field in collection.fields.items():
        for place, target, key in references(field, record.get(name), f"{path}.{name}"):
            if not database.has(target, key):
                yield f"{place}: refers to {key!r}, which is not in {target}"


def _owners(database: Database, name: str) -> Owners:
    fields = database.schema.collections[name].fields
    owners: Owners = {}
    for field_name in (field_name for field_name, field in fields.items() if field.unique):
        for key, record in database.records[name].items():
            value = record.get(field_name)
            if not any(record_problems({field_name: fields[field_name]}, {field_name: value}, "")):
                value = canonical_value(fields[field_name], value)
                if value is not None:
                    owners.setdefault((field_name, value), []).append(key)
    return owners


def _shared_values(owners: Owners, name: str, key: Key) -> Iterator[str]:
    for (field_name, value), keys in owners.items():
        if len(keys) > 1 and key in keys[1:]:
            yield f"{name} {key}.{field_name}: {value!r} must be unique, and {keys[0]} has it"
