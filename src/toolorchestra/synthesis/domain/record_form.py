"""The form of a collection's records, as strict structured output wants it."""

from __future__ import annotations

from collections.abc import Mapping

from toolorchestra.domain.schema import Field
from toolorchestra.synthesis.json_form import TEXT, WHOLE, YES_NO, list_of, object_of, or_null
from toolorchestra.types import Json

_SCALARS: Mapping[str, Json] = {"whole": WHOLE, "yes_no": YES_NO}


def record_form(fields: Mapping[str, Field]) -> Json:
    """The JSON schema of a record; an optional field is named too, and may be null."""
    return object_of({name: _field_form(one) for name, one in fields.items()})


def _field_form(field: Field) -> Json:
    form: Json
    if field.of is not None:
        form = list_of(_field_form(field.of))
    elif field.kind == "choice":
        form = {"type": "string", "enum": list(field.choices)}
    else:
        form = _SCALARS.get(field.kind, TEXT)
    return or_null(form) if field.optional else form
