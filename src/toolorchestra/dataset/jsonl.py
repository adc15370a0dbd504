"""Tasks in a file, one JSON object a line: read strictly, written whole or not at all.

A damaged file must stop a run before it starts, with the line to look at, rather than train on what
happens to be readable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolorchestra.codec import from_json, to_json
from toolorchestra.dataset.answer_kind import ANSWER_KINDS
from toolorchestra.types import Task

_NEEDED = ("id", "skill", "question", "answer")
_DEFAULTS: dict[str, Any] = {"answer_kind": "text", "metadata": {}}


def _read_line(line: str, where: str) -> Task:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{where}: not a whole JSON object ({error.msg} at column {error.colno}); "
            "mend or remove the line, or write the file again"
        ) from error
    if not isinstance(value, dict):
        raise ValueError(f"{where}: a task must be a JSON object; mend or remove the line")
    if missing := [key for key in _NEEDED if key not in value]:
        raise ValueError(
            f"{where}: missing {', '.join(missing)}; every task needs {', '.join(_NEEDED)}"
        )
    try:
        task = from_json(Task, _DEFAULTS | value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}; mend the line") from error
    for key in _NEEDED:
        if not getattr(task, key).strip():
            raise ValueError(f"{where}: {key} is empty; give it a value or remove the line")
    if task.answer_kind not in ANSWER_KINDS:
        raise ValueError(
            f"{where}: answer_kind {task.answer_kind!r} is not allowed; use "
            f"{', '.join(ANSWER_KINDS)}"
        )
    return task


def read_tasks(path: str | Path) -> tuple[Task, ...]:
    """Read all tasks of a file; blank lines are skipped.

    Raises:
        ValueError: the file cannot be read, is empty, or has a line that is damaged, lacks a key
            or repeats an id. The message gives file, line, fault and remedy.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(
            f"{path}: cannot be read ({error.strerror}); check dataset.path"
        ) from error
    except UnicodeDecodeError as error:
        line_number = error.object[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path}:{line_number}: not UTF-8 text; mend the line or write the file again"
        ) from error
    tasks: list[Task] = []
    line_of: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        task = _read_line(line, f"{path}:{number}")
        if task.id in line_of:
            raise ValueError(
                f"{path}:{number}: the id {task.id!r} was used in line {line_of[task.id]} already; "
                "give every task an id of its own"
            )
        line_of[task.id] = number
        tasks.append(task)
    if not tasks:
        raise ValueError(f"{path}:1: the file holds no task; put one JSON object on each line")
    return tuple(tasks)


def write_tasks(path: str | Path, tasks: Iterable[Task]) -> None:
    """Write one task a line: beside `path` first, then renamed, so that no half file is left.

    Raises:
        ValueError: the file cannot be written, with what to do.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            for task in tasks:
                file.write(json.dumps(to_json(task), ensure_ascii=False) + "\n")
        os.replace(beside, path)
    except OSError as error:
        raise ValueError(
            f"{path}: cannot be written ({error.strerror}); choose a folder that exists and can "
            "be written"
        ) from error
    finally:
        beside.unlink(missing_ok=True)
