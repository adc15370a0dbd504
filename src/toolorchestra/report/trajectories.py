"""Every rollout in full, as JSON lines: the groups of training, and the trials of an evaluation.

A line of trajectories.jsonl is `{"step": 3, "group": {...}}` with the group as
`toolorchestra.codec` writes it. Lines are only ever appended, in order of step; a resumed run first
cuts off the steps that it will repeat. A line of evaluation_trajectories.jsonl is
`{"format": 2, "config_hash": "...", "result": {...}, "episode": {...}, "rollout": {...}, ...}`, one
trial of one policy; `toolorchestra.report.records` writes them, and reads them back to go on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from toolorchestra.benchmark.evaluate import Trial
from toolorchestra.codec import from_json, to_json
from toolorchestra.types import Group

TRAJECTORIES_FILE, EVALUATION_FILE = "trajectories.jsonl", "evaluation_trajectories.jsonl"
FORMAT, CONFIG_HASH = "format", "config_hash"
"""Keys of an evaluation's line that tell how it is written, and what decided its result."""
FORMAT_VERSION = 2
"""What evaluations wrote before lines named a format is not read back."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedGroup:
    """A group and the training step that it was sampled for."""

    step: int
    group: Group


class TrajectoryLog:
    """Append-only writer of whole groups."""

    def __init__(self, path: Path, *, keep_through: int = -1) -> None:
        """Open `path`, keeping the groups of earlier training that are still valid.

        Args:
            path: The JSONL file; made if absent.
            keep_through: Last step whose groups stay. -1 starts afresh; a resumed run gives its
                checkpoint's step, so that no group is counted twice.

        Raises:
            ValueError: If a kept line is corrupt, naming file and line.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.truncate(path, _length_through(path, keep_through))
        self._path = path

    def write(self, step: int, groups: Iterable[Group]) -> None:
        """Append the groups of one step, each as one line."""
        _append(self._path, (LoggedGroup(step=step, group=group) for group in groups))


def _append(path: Path, records: Iterable[Any]) -> None:
    lines = (to_json(record) for record in records)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


def read_trials(path: Path, *, skip_truncated_last_line: bool = False) -> Iterator[Trial]:
    """Yield the trials of an evaluation, each once, in order; see `read_trajectories`.

    A void trial that was played again stands there twice until its evaluation is done: the later
    one is taken.
    """
    last = {}
    for number, (value, _) in enumerate(_lines(path, skip_truncated_last_line)):
        last[_place_of(value)] = number
    for number, (value, where) in enumerate(_lines(path, skip_truncated_last_line)):
        if last[_place_of(value)] == number:
            yield parse_trial(value, where)


def read_trajectories(
    path: Path, *, skip_truncated_last_line: bool = False
) -> Iterator[LoggedGroup]:
    """Yield the groups of a trajectory file, in order.

    Args:
        path: The JSONL file.
        skip_truncated_last_line: Leave out a last line without newline, as a killed run leaves it,
            instead of raising.

    Raises:
        ValueError: At a line that is corrupt or cut, naming file and line.
    """
    return _read(LoggedGroup, path, skip_truncated_last_line)


def parse_trial(value: Any, where: str) -> Trial:
    """The trial of a parsed line.

    Raises:
        ValueError: It is none, or one of another format; `where` names file and line.
    """
    if not isinstance(value, dict) or value.get(FORMAT) != FORMAT_VERSION:
        found = value.get(FORMAT) if isinstance(value, dict) else None
        raise ValueError(
            f"{where}: the record has the format {found}, not {FORMAT_VERSION}: another version or "
            "another program wrote it; use another folder"
        )
    own = {key: item for key, item in value.items() if key not in (FORMAT, CONFIG_HASH)}
    return _parse(Trial, own, where)


def _place_of(value: Any) -> tuple[Any, ...]:
    """What tells a trial from others, as far as the line has it."""
    result = value.get("result") if isinstance(value, dict) else None
    found = result if isinstance(result, dict) else {}
    return tuple(str(found.get(key)) for key in ("policy", "world", "episode", "trial"))


def _read(kind: type[T], path: Path, skip_truncated_last_line: bool) -> Iterator[T]:
    for value, where in _lines(path, skip_truncated_last_line):
        yield _parse(kind, value, where)


def _lines(path: Path, skip_truncated_last_line: bool) -> Iterator[tuple[Any, str]]:
    """What each line holds, and where it stands."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n") and skip_truncated_last_line:
                return
            where = f"{path}:{number}"
            yield load_line(line, where), where


def _parse(kind: type[T], value: Any, where: str) -> T:
    try:
        return from_json(kind, value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def load_line(line: bytes, where: str) -> Any:
    """What a line holds as JSON.

    Raises:
        ValueError: It is cut off, or no JSON; `where` names file and line.
    """
    if not line.endswith(b"\n"):
        raise ValueError(f"{where}: the line is cut off; the run that wrote it was killed")
    try:
        return json.loads(line)
    except ValueError as error:  # bad JSON or bad UTF-8
        raise ValueError(f"{where}: the line is not JSON ({error})") from error


def _length_through(path: Path, last_step: int) -> int:
    """Bytes of the whole lines up to `last_step`."""
    length = 0
    if last_step < 0:
        return length
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            value = load_line(line, f"{path}:{number}")
            if not isinstance(value, dict) or type(value.get("step")) is not int:
                raise ValueError(f"{path}:{number}: the line names no step")
            if value["step"] > last_step:
                break
            length += len(line)
    return length
