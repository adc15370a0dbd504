"""Every rollout in full, as JSON lines: the groups of training, and the trials of an evaluation.

A line of trajectories.jsonl is `{"step": 3, "group": {...}}` with the group as
`toolorchestra.codec` writes it. Lines are only ever appended, in order of step; a resumed run first
cuts off the steps that it will repeat. A line of evaluation_trajectories.jsonl is
`{"result": {...}, "episode": {...}, "rollout": {...}}`; an evaluation is repeated as a whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from toolorchestra.benchmark.evaluate import Trial
from toolorchestra.codec import from_json, to_json
from toolorchestra.types import Group

TRAJECTORIES_FILE, EVALUATION_FILE = "trajectories.jsonl", "evaluation_trajectories.jsonl"

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


class TrialLog:
    """Writer of an evaluation's trials; the first of them end what an earlier try left."""

    def __init__(self, path: Path) -> None:
        """Makes nothing yet: an evaluation that is broken off early leaves no file."""
        self._path, self._is_begun = path, False

    def write(self, trials: Iterable[Trial]) -> None:
        """Append trials, each as one line, without the rows that only training needs."""
        if not self._is_begun:
            self._path.unlink(missing_ok=True)
            self._is_begun = True
        _append(self._path, (replace(t, rollout=replace(t.rollout, rows=())) for t in trials))


def _append(path: Path, records: Iterable[Any]) -> None:
    lines = (to_json(record) for record in records)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


def read_trials(path: Path, *, skip_truncated_last_line: bool = False) -> Iterator[Trial]:
    """Yield the trials of an evaluation, in order; see `read_trajectories`."""
    return _read(Trial, path, skip_truncated_last_line)


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


def _read(kind: type[T], path: Path, skip_truncated_last_line: bool) -> Iterator[T]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n") and skip_truncated_last_line:
                return
            yield _parse(kind, line, f"{path}:{number}")


def _parse(kind: type[T], line: bytes, where: str) -> T:
    value = _load(line, where)
    try:
        return from_json(kind, value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _load(line: bytes, where: str) -> Any:
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
            value = _load(line, f"{path}:{number}")
            if not isinstance(value, dict) or type(value.get("step")) is not int:
                raise ValueError(f"{path}:{number}: the line names no step")
            if value["step"] > last_step:
                break
            length += len(line)
    return length
