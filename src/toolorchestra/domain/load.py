"""Loading a domain's folder, and refusing it with file, line and reason where anything is wrong.

A folder holds `schema.json`, `database.jsonl` or one `database/COLLECTION.jsonl` for each
collection, `policy.md`, `functions.py`, `tasks.jsonl`, and `user_functions.py` where the user has
some. A line of `database.jsonl` is `{"collection": ..., "record": {...}}`; of `COLLECTION.jsonl` it
is the record alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from toolorchestra.codec import from_json
from toolorchestra.domain.check import database_problems
from toolorchestra.domain.database import Database, Key, Place, Record
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.fault import BadDomain, DomainBug
from toolorchestra.domain.folder import RECORDS_FOLDER, Texts, read_texts, text_of
from toolorchestra.domain.function import TypedFunction, read_functions
from toolorchestra.domain.json_text import read_json
from toolorchestra.domain.schema import Schema, parse_schema, with_defaults
from toolorchestra.domain.task import Action, DomainTask, InitialChange, UserStep


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """One line of a JSONL file."""

    place: str
    """e.g. "tasks.jsonl, line 3"."""
    value: Any


def _parse(text: str, place: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise BadDomain(f"{place}: {error}") from error


def _read_lines(texts: Texts, name: str) -> Iterator[_Line]:
    for number, text in enumerate(text_of(texts, name).split("\n"), start=1):
        if text.strip():
            place = f"{name.rpartition('/')[2]}, line {number}"
            yield _Line(place=place, value=_parse(text, place))


def _read_records(texts: Texts, schema: Schema) -> Iterator[tuple[str, _Line]]:
    """Each record's collection, and the line that holds the record."""
    if many := [name for name in texts if name.startswith(RECORDS_FOLDER)]:
        for name in many:
            collection, _, kind = name.removeprefix(RECORDS_FOLDER).rpartition(".")
            if kind != "jsonl" or collection not in schema.collections:
                raise BadDomain(f"{name}: is no collection's file")
            yield from ((collection, line) for line in _read_lines(texts, name))
        return
    for line in _read_lines(texts, "database.jsonl"):
        value = line.value
        if not isinstance(value, dict) or set(value) != {"collection", "record"}:
            raise BadDomain(f'{line.place}: expected an object of "collection" and "record"')
        if value["collection"] not in schema.collections:
            known = ", ".join(schema.collections)
            raise BadDomain(f"{line.place}: no collection {value['collection']!r}; use {known}")
        yield value["collection"], _Line(place=line.place, value=value["record"])


def _load_database(texts: Texts, schema: Schema) -> Database:
    records: dict[str, dict[Key, Record]] = {name: {} for name in schema.collections}
    places: dict[Place, str] = {}
    for name, line in _read_records(texts, schema):
        key_name = schema.collections[name].key
        key = line.value.get(key_name) if isinstance(line.value, dict) else None
        if not isinstance(key, str):
            raise BadDomain(f"{line.place}: {name}.{key_name}: expected a key; got {key!r}")
        if key in records[name]:
            first = places[name, key]
            raise BadDomain(f"{line.place}: {name} {key} stands already at {first}")
        records[name][key] = line.value
        places[name, key] = line.place
    database = Database(schema, records)
    for place, problem in database_problems(database):
        raise BadDomain(f"{places[place]}: {problem}")
    return database


def _parse_task(value: Any) -> DomainTask:
    value = with_defaults(DomainTask, value)
    if isinstance(value, dict):
        parts = (("actions", Action), ("changes", InitialChange), ("steps", UserStep))
        for name, kind in parts:
            if isinstance(value[name], list):
                value[name] = [with_defaults(kind, one) for one in value[name]]
        for step in value["steps"] if isinstance(value["steps"], list) else ():
            if isinstance(step, dict) and isinstance(step["actions"], list):
                step["actions"] = [with_defaults(Action, one) for one in step["actions"]]
    return from_json(DomainTask, value, "task")


def _check_names(domain: Domain, task: DomainTask) -> None:
    theirs = {"policy": domain.functions, "user": domain.user_functions}
    for action in task.actions:
        if action.name not in theirs[action.by]:
            raise ValueError(
                f"task {task.id}: there is no function {action.name!r} of the {action.by}"
            )
    for number, step in enumerate(task.steps, start=1):
        for action in step.actions:
            if action.by != "user" or action.name not in domain.user_functions:
                raise ValueError(
                    f"task {task.id}: step {number}: {action.name!r} is no function of the user"
                )


def with_tasks(domain: Domain, texts: Texts) -> Domain:
    """The domain with the tasks of its `tasks.jsonl`, whose golden actions all work.

    Raises:
        BadDomain: one is wrong, or there is none.
    """
    tasks: dict[str, DomainTask] = {}
    places: dict[str, str] = {}
    for line in _read_lines(texts, "tasks.jsonl"):
        try:
            task = _parse_task(line.value)
            if task.id in tasks:
                raise ValueError(f"the id {task.id!r} stands already at {places[task.id]}")
            _check_names(domain, task)
            domain.replay_golden(task)
        except (ValueError, DomainBug) as error:
            raise BadDomain(f"{line.place}: {error}") from error
        tasks[task.id], places[task.id] = task, line.place
    if not tasks:
        raise BadDomain("tasks.jsonl: holds no task")
    return replace(domain, tasks=tasks)


def load_folder(
    folder: Path,
    *,
    functions: Mapping[str, TypedFunction],
    user_functions: Mapping[str, TypedFunction] | None = None,
    has_tasks: bool = True,
) -> Domain:
    """Load a domain whose functions are known already.

    Args:
        folder: Where its files lie.
        functions: The domain's functions, by name.
        user_functions: Those of the user, by name.
        has_tasks: False reads no `tasks.jsonl`: while its tasks are still to be made.

    Raises:
        BadDomain: a file is missing or wrong; the message gives the file, the line and why.
    """
    texts = read_texts(folder, follows_links=True)
    domain = load_texts(
        texts, name=folder.name, functions=functions, user_functions=user_functions or {}
    )
    return with_tasks(domain, texts) if has_tasks else domain


def load_texts(
    texts: Texts,
    *,
    name: str,
    functions: Mapping[str, TypedFunction],
    user_functions: Mapping[str, TypedFunction],
) -> Domain:
    """A domain of texts that were read already, without its tasks.

    Raises:
        BadDomain: as `load_folder`.
    """
    schema_value = _parse(text_of(texts, "schema.json"), "schema.json")
    try:
        schema = parse_schema(schema_value)
    except BadDomain as error:
        raise BadDomain(f"schema.json: {error}") from error
    policy = text_of(texts, "policy.md")
    if not policy.strip():
        raise BadDomain("policy.md: is empty")
    return Domain(
        name=name,
        database=_load_database(texts, schema),
        functions=functions,
        policy=policy,
        tasks={},
        user_functions=user_functions,
    )


def load_package(package: str, *, has_tasks: bool = True) -> Domain:
    """Load a domain that is a Python package, whose module `functions` has a tuple `FUNCTIONS`.

    Its module `user_functions`, where there is one, has the user's in the same way.

    Its code runs here, so it must be trusted.

    Raises:
        BadDomain: as `load_folder`, or the functions cannot be used.
    """
    try:
        found = importlib.import_module(package)
    except ImportError as error:
        raise BadDomain(f"{package}: {error}") from error
    path = getattr(found, "__path__", None)
    if path is None:
        raise BadDomain(f"{package}: is a module, not a package")
    folder = Path(next(iter(path)))
    if not (folder / "functions.py").is_file():
        raise BadDomain("functions.py: is missing")
    has_user = (folder / "user_functions.py").is_file()
    return load_folder(
        folder,
        functions=_import_functions(package, "functions"),
        user_functions=_import_functions(package, "user_functions") if has_user else {},
        has_tasks=has_tasks,
    )


def _import_functions(package: str, module: str) -> dict[str, TypedFunction]:
    try:
        return read_functions(importlib.import_module(f"{package}.{module}").FUNCTIONS)
    except (AttributeError, ImportError, SyntaxError, BadDomain) as error:
        raise BadDomain(f"{module}.py: {error}") from error


SHIPPED = ("library", "clinic")
"""The domains that ship with the project, each a package beside this file."""


@lru_cache(maxsize=len(SHIPPED))
def load_shipped(name: str) -> Domain:
    """A domain that ships with the project; loaded once in a process.

    Raises:
        ValueError: there is no such domain.
    """
    if name not in SHIPPED:
        raise ValueError(f"domain: {name!r} is not allowed; use {', '.join(SHIPPED)}")
    return load_package(f"toolorchestra.domain.{name}")
