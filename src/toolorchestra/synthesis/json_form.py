"""Schemas of replies, as strict structured output wants them: every key named, and no other."""

from __future__ import annotations

from toolorchestra.types import Json

TEXT: Json = {"type": "string"}
YES_NO: Json = {"type": "boolean"}
WHOLE: Json = {"type": "integer"}


def object_of(properties: Json) -> Json:
    """An object of these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Json) -> Json:
    """A list of such items."""
    return {"type": "array", "items": items}


def or_null(schema: Json) -> Json:
    """A value, or none."""
    return {"anyOf": [schema, {"type": "null"}]}
