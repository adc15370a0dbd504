"""Checkpoints that are complete or absent: written aside, flushed, renamed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

_NAME = re.compile(r"step_(\d+)\.ckpt")


class Checkpoints:
    """The checkpoints of one run, newest last."""

    def __init__(self, folder: Path, *, keep: int) -> None:
        self._folder, self._keep = folder, keep

    def save(self, next_step: int, write: Callable[[Path], None]) -> Path:
        """Stores a checkpoint that resumes at `next_step`, then removes the oldest beyond `keep`.

        Args:
            next_step: First step that is still to be done.
            write: Writes the checkpoint to the path that it is given.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        for leftover in self._folder.glob("step_*.tmp"):  # of a run that was killed while writing
            leftover.unlink()
        path = self._folder / f"step_{next_step:06d}.ckpt"
        aside = path.with_suffix(".tmp")
        write(aside)
        _flush(aside)
        os.replace(aside, path)
        _flush(self._folder)
        for old in self.paths()[: -self._keep]:
            old.unlink()
        return path

    def paths(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        if not self._folder.is_dir():
            return []
        found = (path for path in self._folder.iterdir() if _NAME.fullmatch(path.name))
        return sorted(found, key=next_step_of)

    def newest(self) -> Path | None:
        """The newest complete checkpoint."""
        paths = self.paths()
        return paths[-1] if paths else None


def _flush(path: Path) -> None:
    """Waits until a file, or a folder's list of names, is on the disk itself."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def next_step_of(path: Path) -> int:
    """First step that a checkpoint has yet to do, read off its name."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"resume: {path} is no checkpoint; use a run's folder, or auto")
    return int(match.group(1))


def check_readable(path: Path) -> None:
    """Raises ValueError, with what to do, where a checkpoint is damaged or of another program."""
    try:
        content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for damaged archives
        raise ValueError(
            f"resume: {path} cannot be read ({type(error).__name__}); delete it to resume from the "
            "one before, or start anew without resume"
        ) from error
    if not isinstance(content, dict) or "toolorchestra" not in content:
        raise ValueError(f"resume: {path} was not written by this program; use a run's folder")
