"""Answers with the right verdict: our own traps, and public cases that stay where they are."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.types import Json, Task

TRAPS = Path(__file__).with_name("traps.jsonl")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One given answer, and whether it is right."""

    group: str
    task: Task
    given: str
    is_right: bool
    arguable: str = ""
    """Why others may see it otherwise; such cases are counted apart."""


def traps(path: Path = TRAPS) -> list[Case]:
    """The cases of the shipped file.

    Raises:
        ValueError: A line has a key that it should not have, or lacks one.
    """
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        try:
            cases.append(
                _case(
                    row.pop("group"),
                    row.pop("kind"),
                    row.pop("gold"),
                    row.pop("given"),
                    is_right=row.pop("right"),
                    arguable=row.pop("arguable", ""),
                    metadata={key: row.pop(key) for key in ("options", "aliases") if key in row},
                )
            )
        except KeyError as error:
            raise ValueError(f"{path}:{number}: {error} is missing") from error
        if row:
            raise ValueError(f"{path}:{number}: unknown {', '.join(row)}")
    return cases


def public_cases(path: Path) -> list[Case]:
    """The parametrized cases of one of Math-Verify's test files, read as text and never run.

    Of each test, the literal cases with `gold`, `pred` and what is expected; those with other
    settings than the defaults (another precision, other extractors) are left out.
    """
    cases = []
    for function in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(function, ast.FunctionDef):
            for values in _parametrized(function):
                given = _read(values)
                if given is not None:
                    gold, answer, is_right = given
                    group = f"{path.stem}: {function.name.removeprefix('test_')}"
                    cases.append(_case(group, "math", gold, answer, is_right=is_right))
    return cases


def _case(
    group: str,
    kind: str,
    gold: str,
    given: str,
    *,
    is_right: bool,
    arguable: str = "",
    metadata: Json | None = None,
) -> Case:
    task = Task(
        id="case",
        skill="matching",
        question="",
        answer=gold,
        answer_kind=kind,
        metadata=metadata or {},
    )
    return Case(group=group, task=task, given=given, is_right=is_right, arguable=arguable)


def _parametrized(function: ast.FunctionDef) -> Iterator[dict[str, ast.expr]]:
    """The arguments of each case of a test, by name, not yet evaluated."""
    for decorator in function.decorator_list:
        if not (isinstance(decorator, ast.Call) and len(decorator.args) == 2):
            continue
        names, rows = decorator.args
        if isinstance(names, ast.Constant) and isinstance(rows, ast.List):
            keys = [name.strip() for name in str(names.value).split(",")]
            for row in rows.elts:
                if isinstance(row, ast.Tuple) and len(row.elts) == len(keys):
                    yield dict(zip(keys, row.elts, strict=True))


def _read(values: dict[str, ast.expr]) -> tuple[str, str, bool] | None:
    expected = values.get("expected", values.get("result"))
    if not {"gold", "pred"} <= values.keys() or expected is None:
        return None
    if len(values) != 3:
        return None
    try:
        read: list[Any] = [ast.literal_eval(v) for v in (values["gold"], values["pred"], expected)]
    except ValueError:  # computed at run time
        return None
    gold, answer, is_right = read
    return (gold, answer, bool(is_right)) if isinstance(gold, str) else None
