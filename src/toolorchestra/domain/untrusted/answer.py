"""What a function answers from inside the sandbox, as JSON values.

This runs beside the code that nobody trusts, in the same process: `reply` believes none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from toolorchestra.domain.argument import told_annotation
from toolorchestra.domain.database import Database, Key, Place, Record
from toolorchestra.domain.fault import BadDomain, DomainBug, DomainError
from toolorchestra.domain.function import (
    TypedFunction,
    call_function,
    read_function,
    read_functions,
)
from toolorchestra.domain.schema import Schema, parse_schema


def make_database(schema: Any, records: Mapping[str, Mapping[Key, Record]]) -> Database:
    """The database that calls begin with, before what has changed since."""
    return Database(parse_schema(schema), records)


def tell(module: ModuleType) -> dict[str, Any]:
    """What the functions of a file are."""
    try:
        functions = read_functions(module.FUNCTIONS)
    except (AttributeError, BadDomain) as error:
        return {"broken": str(error)}
    return {"functions": [_tell(function) for function in functions.values()]}


def _tell(function: TypedFunction) -> dict[str, Any]:
    arguments = [
        {
            "name": name,
            "annotation": told_annotation(annotation),
            "description": function.parameters["properties"][name]["description"],
            "is_required": name in function.parameters["required"],
        }
        for name, annotation in function.annotations.items()
    ]
    return {"name": function.name, "description": function.description, "arguments": arguments}


def call(
    module: ModuleType, name: str, arguments: Mapping[str, Any], database: Database, schema: Schema
) -> dict[str, Any]:
    """What a call gave and did, or why it came to nothing.

    Args:
        module: The file.
        name: Of the function.
        arguments: JSON values.
        database: To work on.
        schema: A copy of the database's own, to see whether that was changed.
    """
    (function,) = (one for one in module.FUNCTIONS if one.__name__ == name)
    try:
        after, result = call_function(database, read_function(function), arguments)
    except DomainError as error:
        return {"refused": str(error)}
    except DomainBug as error:
        return {"bug": str(error)}
    if after.schema != schema:
        return {"bug": f"{name} changed the schema"}
    return {
        "result": result,
        "written": {
            collection: {key: after.records[collection].get(key) for key in keys}
            for collection, keys in _by_collection(after.written).items()
        },
        "read": _by_collection(after.read),
        "seen": _by_collection(after.seen),
    }


def _by_collection(places: Iterable[Place]) -> dict[str, list[Key]]:
    keys: dict[str, list[Key]] = {}
    for collection, key in sorted(places):
        keys.setdefault(collection, []).append(key)
    return keys
