"""Reads the published ToolScale table (nvidia/ToolScale on the hub).

Its golden actions share one struct for the arguments of all domains' functions, filled up with
nulls, and dates in it became timestamps. Records have neither: nulls are dropped, and a timestamp
is ISO text again, without the time where that is midnight (the table does not tell a day from its
first second). A null argument that was meant cannot be told from filling, and is dropped as well.

Nothing in it marks tasks where the right thing is to refuse: `relevant_policies` is prose for
readers. Such a task is one whose golden actions write nothing, and where something has to be said;
a task of our domains says it in the same way, and whoever writes all the same fails it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from toolorchestra.dataset.table_load import check_columns, load_table
from toolorchestra.types import Json

if TYPE_CHECKING:
    import datasets

_COLUMNS = ("id", "user_scenario", "evaluation_criteria")


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldenAction:
    """A call that a right solution makes."""

    name: str
    arguments: Json


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolScaleRecord:
    """One task of the table. The databases and functions of its domain are published elsewhere."""

    id: str
    domain: str
    instruction: str
    """What the user wants, as told to whoever plays the user."""
    reason: str
    known: str
    """What the user can tell when asked."""
    unknown: str
    """What the user cannot tell."""
    actions: tuple[GoldenAction, ...]
    communicate: tuple[str, ...]
    """What a right solution says."""


def read_toolscale(
    path: str, *, split: str = "train", revision: str | None = None
) -> Iterator[ToolScaleRecord]:
    """All records of the table, one after the other.

    Args:
        path: A local copy in any form that `load_table` reads, or "nvidia/ToolScale".
        split: Of the hub.
        revision: Of the hub, which needs one.

    Raises:
        ValueError: There is no such table, it has other columns, or a row lacks what every task
            needs; the sentence says which.
    """
    table = load_table(path, split=split, revision=revision)
    _check_form(table, path)
    return _records(table, path)


def _records(table: datasets.Dataset, path: str) -> Iterator[ToolScaleRecord]:
    for number, row in enumerate(table):
        yield _record(row, f"{path}, row {number}")


def _check_form(table: datasets.Dataset, path: str) -> None:
    check_columns(table, _COLUMNS, path=path)
    row = {"user_scenario": ("instructions",), "evaluation_criteria": ("actions",)}
    for column, fields in row.items():
        found = table.features[column]
        names = list(found) if isinstance(found, dict) else []
        if missing := [name for name in fields if name not in names]:
            raise ValueError(
                f"{path}: the column {column} has no field {', '.join(missing)}; it has "
                f"{', '.join(names) or 'none'}; use a table in the form of nvidia/ToolScale"
            )


def _record(row: Mapping[str, Any], place: str) -> ToolScaleRecord:
    told = _struct(_struct(row["user_scenario"]).get("instructions"))
    wanted = _struct(row["evaluation_criteria"])
    instruction = told.get("task_instructions")
    if not row["id"] or not isinstance(instruction, str) or not instruction.strip():
        missing = "task_instructions" if row["id"] else "id"
        raise ValueError(f"{place}: {missing} is empty; give it a value or remove the row")
    return ToolScaleRecord(
        id=str(row["id"]),
        domain=told.get("domain") or "",
        instruction=instruction.strip(),
        reason=told.get("reason_for_call") or "",
        known=told.get("known_info") or "",
        unknown=told.get("unknown_info") or "",
        actions=tuple(_action(action, place) for action in wanted.get("actions") or ()),
        communicate=tuple(
            str(_plain(text, place)) for text in wanted.get("communicate_info") or ()
        ),
    )


def _struct(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _action(action: Any, place: str) -> GoldenAction:
    fields = _struct(action)
    if not fields.get("name"):
        raise ValueError(f"{place}: an action has no name; give it one or remove the row")
    arguments = _plain(fields.get("arguments") or {}, f"{place}, {fields['name']}")
    if not isinstance(arguments, dict):
        raise ValueError(f"{place}, {fields['name']}: the arguments are no struct; mend the row")
    return GoldenAction(name=fields["name"], arguments=arguments)


def _plain(value: Any, place: str) -> Any:
    """`value` as JSON has it, without the nulls that fill a struct up.

    A struct within it that holds nothing else was filling too; items of a list are all meant.
    """
    if isinstance(value, Mapping):
        fields = {key: _plain(inner, place) for key, inner in value.items()}
        return {key: inner for key, inner in fields.items() if inner is not None and inner != {}}
    if isinstance(value, list | tuple):
        return [_plain(item, place) for item in value]
    if isinstance(value, datetime):
        is_day = value.time() == time.min and value.tzinfo is None
        return value.date().isoformat() if is_day else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError(
        f"{place}: a value of the type {type(value).__name__} is no JSON; write it as text"
    )
