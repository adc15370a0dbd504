"""Checkpoints that are complete or absent: written aside, flushed, marked last, renamed.

Each is a folder: what Lightning or DeepSpeed wrote, and a record of what wrote it and how long its
files are, so that one that is cut, or of another run, is found out before anything is loaded.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_NAME = re.compile(r"step_(\d+)")
FOLDER = "checkpoints"
"""In a run's folder."""
RECORD, STATE = "record.json", "state"
"""In a checkpoint's folder: the record, and what the trainer wrote."""


class Checkpoints:
    """The checkpoints of one run, newest last."""

    def __init__(
        self, folder: Path, *, keep: int, writer: Mapping[str, Any], keep_one_every_s: float = 0.0
    ) -> None:
        """Takes a run's folder of checkpoints.

        Args:
            folder: Made when the first is saved.
            keep: How many of the newest are kept.
            writer: What a trainer must be like to read them, as JSON has it.
            keep_one_every_s: Of older ones, one is kept for every so many seconds; 0: none is.
        """
        self._folder, self._keep, self._keep_one_every_s = folder, keep, keep_one_every_s
        self._writer = dict(writer)

    def save(
        self,
        next_step: int,
        write: Callable[[Path], None],
        *,
        is_first: bool = True,
        wait: Callable[[], None] = lambda: None,
    ) -> Path:
        """Stores a checkpoint that resumes at `next_step`, then removes those not to be kept.

        Args:
            next_step: First step that is still to be done.
            write: Writes to the path that it is given, a file or a folder; on every rank.
            is_first: Whether this rank is the one that makes and marks.
            wait: Until all ranks have come as far.
        """
        path = self._folder / f"step_{next_step:06d}"
        aside = self._folder / f"step_{next_step:06d}.tmp"
        if is_first:
            for leftover in self._folder.glob("step_*.tmp"):  # of a run that was killed writing
                shutil.rmtree(leftover)
            aside.mkdir(parents=True)
        wait()
        write(aside / STATE)
        wait()
        if is_first:
            record = self._writer | {
                "next_step": next_step,
                "written_at": time.time(),
                "files": _sizes(aside),
            }
            (aside / RECORD).write_text(json.dumps(record, indent=1) + "\n")
            for file in aside.rglob("*"):
                _flush(file)
            _flush(aside)
            shutil.rmtree(path, ignore_errors=True)  # a folder is not replaced by another
            os.replace(aside, path)
            _flush(self._folder)
            self._remove_old()
        return path

    def _remove_old(self) -> None:
        kept_at = -float("inf")
        for path in self.paths()[: -self._keep]:
            written_at = float(_read(path).get("written_at", 0.0))
            if self._keep_one_every_s and written_at - kept_at >= self._keep_one_every_s:
                kept_at = written_at
            else:
                shutil.rmtree(path)

    def paths(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        if not self._folder.is_dir():
            return []
        found = (path for path in self._folder.iterdir() if _NAME.fullmatch(path.name))
        return sorted(found, key=next_step_of)

    def newest(self) -> Path | None:
        """The newest complete checkpoint, checked.

        Raises:
            ValueError: It is damaged, or was written by a trainer of another kind.
        """
        paths = self.paths()
        if not paths:
            return None
        self._check(paths[-1])
        return paths[-1]

    def _check(self, path: Path) -> None:
        record = _read(path)
        if not record:
            raise ValueError(f"resume: {path} was not written by this program; use a run's folder")
        sizes = _sizes(path)
        for name, size in record["files"].items():
            if sizes.get(name) != size:
                raise ValueError(
                    f"resume: {path} is damaged ({name} has {sizes.get(name, 0)} of {size} bytes); "
                    "delete it to resume from the one before"
                )
        for key, value in self._writer.items():
            if record.get(key) != value:
                raise ValueError(
                    f"resume: {path} was written with {key} {record.get(key)}, not {value}; resume "
                    "it as it was begun, or start anew without resume"
                )


def next_step_of(path: Path) -> int:
    """First step that a checkpoint has yet to do, read off its name."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"resume: {path} is no checkpoint; use a run's folder, or auto")
    return int(match.group(1))


def newest_step(run_dir: Path) -> int:
    """The step that a run's newest checkpoint goes on with; 0 without one."""
    found = (_NAME.fullmatch(path.name) for path in (run_dir / FOLDER).glob("step_*"))
    return max((int(match.group(1)) for match in found if match), default=0)


def _read(path: Path) -> dict[str, Any]:
    """A checkpoint's record; empty where there is none that can be read."""
    try:
        record = json.loads((path / RECORD).read_text())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and "files" in record else {}


def _sizes(folder: Path) -> dict[str, int]:
    return {
        str(file.relative_to(folder)): file.stat().st_size
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != RECORD
    }


def _flush(path: Path) -> None:
    """Waits until a file, or a folder's list of names, is on the disk itself."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
