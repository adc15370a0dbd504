"""One value of a record: whether its field allows it, and its canonical form.

Money is decimal text and is compared as the number it spells: floats cannot hold 0.10.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from toolorchestra.domain.schema import Field

_MONEY = re.compile(r"-?\d{1,15}(\.\d{1,6})?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def money(text: str) -> Decimal:
    """The amount that `text` spells, e.g. "10.50".

    Raises:
        ValueError: `text` is no plain decimal number.
    """
    if not _MONEY.fullmatch(text):
        raise ValueError(f"{text!r} is no amount; use decimal text such as '10.50'")
    return Decimal(text)


def money_text(amount: Decimal) -> str:
    """How a record and a result write `amount`: two decimals, more only where it has more."""
    amount = amount.normalize()
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int), "an amount is finite"
    return f"{amount:.{max(2, -exponent)}f}"


def is_date(text: str) -> bool:
    """Whether `text` is a day of the calendar such as "2031-05-14"."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _scalar_problem(field: Field, value: Any) -> str | None:
    """Why `field`, which is neither list nor nested record, does not allow `value`."""
    # type() and not isinstance: True is no whole number here
    if field.kind == "whole":
        return None if type(value) is int else "expected a whole number"
    if field.kind == "yes_no":
        return None if type(value) is bool else "expected true or false"
    if field.kind == "reference":  # that its target exists is the database's business
        return None if isinstance(value, str) else "expected the key of a record"
    if not isinstance(value, str):
        hint = ' as decimal text, e.g. "10.50"' if field.kind == "money" else ""
        return f"expected {field.kind}{hint}"
    if field.kind == "money" and not _MONEY.fullmatch(value):
        return 'expected money as decimal text, e.g. "10.50"'
    if field.kind == "date" and not is_date(value):
        return 'expected a date, e.g. "2031-05-14"'
    if field.kind == "choice" and value not in field.choices:
        return "expected one of " + ", ".join(field.choices)
    return None


def value_problems(field: Field, value: Any, path: str) -> Iterator[str]:
    """What `field` does not allow about `value`: one sentence for each place."""
    if value is None:
        if not field.optional:
            yield f"{path}: is missing"
    elif field.kind == "list" and field.of is not None:
        if not isinstance(value, list):
            yield f"{path}: expected a list; got {_shown(value)}"
            return
        for index, item in enumerate(value):
            yield from value_problems(field.of, item, f"{path}[{index}]")
    elif field.kind == "record":
        yield from record_problems(field.fields, value, path)
    elif problem := _scalar_problem(field, value):
        yield f"{path}: {problem}; got {_shown(value)}"


def record_problems(fields: Mapping[str, Field], record: Any, path: str) -> Iterator[str]:
    """What is wrong with `record`, each sentence beginning with the place below `path`."""
    if not isinstance(record, dict):
        yield f"{path}: expected an object; got {_shown(record)}"
        return
    for name in record:
        if name not in fields:
            yield f"{path}.{name}: is unknown; use {', '.join(fields)}"
    for name, field in fields.items():
        yield from value_problems(field, record.get(name), f"{path}.{name}")


def references(field: Field, value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """The references within a valid `value`: place, collection and key of the target."""
    if value is None:
        return
    if field.to is not None:
        yield path, field.to, value
    elif field.of is not None:
        for index, item in enumerate(value):
            yield from references(field.of, item, f"{path}[{index}]")
    else:
        for name, inner in field.fields.items():
            yield from references(inner, value.get(name), f"{path}.{name}")


def canonical_value(field: Field, value: Any) -> Any:
    """A valid `value` in the one form that all equal values share."""
    if value is None:
        return None
    if field.kind == "money":
        return money_text(Decimal(value) + 0)  # -0 becomes 0
    if field.kind == "record":
        return canonical_record(field.fields, value)
    if field.of is not None:
        items = [canonical_value(field.of, item) for item in value]
        return items if field.ordered else sorted(items, key=canonical_text)
    return value


def canonical_record(fields: Mapping[str, Field], record: Mapping[str, Any]) -> dict[str, Any]:
    """A valid `record` without what is absent or volatile."""
    return {
        name: canonical_value(field, record[name])
        for name, field in sorted(fields.items())
        if not field.volatile and record.get(name) is not None
    }


def canonical_text(value: Any) -> str:
    """A canonical value as the one JSON text for it."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
