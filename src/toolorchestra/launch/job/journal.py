"""What befell one point of a sweep, as a file of events in its folder; only its first rank writes.

Whoever looks at a sweep, be it hours later and on another machine, learns from it how far a point
came and why it ended. An attempt that finds that another has begun knows that it is given up.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from toolorchestra.codec import from_json, to_json

FOLDER = "job"
"""In a point's folder: the journal and logs."""

STARTED = "started"
PREEMPTED, TIMED_OUT, CRASHED = "preempted", "timed out", "crashed"
"""An attempt ended, and had its job queued again."""
BROKEN_OFF = "broken off"
"""An attempt ended as its job was ended from outside; whether another follows is decided there."""
FINISHED, FAILED, CANCELLED = "finished", "failed", "cancelled"
"""The point ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line."""

    kind: str
    attempt: str
    """Names the attempt: the job's id, and how often Slurm has started it before."""
    time_s: float
    """Since 1970."""
    step: int
    """Step that the newest checkpoint goes on with."""
    host: str
    port: int = 0
    """Where the first rank of several listens."""
    reason: str = ""

    @property
    def job_id(self) -> str:
        """Of the attempt."""
        return self.attempt.partition("#")[0]


class Journal:
    """The events of one point, oldest first."""

    def __init__(self, run_dir: Path) -> None:
        """Takes the point's folder; writes nothing yet."""
        self.folder = run_dir / FOLDER
        self._path = self.folder / "events.jsonl"

    def write(
        self, kind: str, attempt: str, *, step: int, host: str, port: int = 0, reason: str = ""
    ) -> None:
        """Adds an event, flushed to the disk."""
        event = Event(
            kind=kind, attempt=attempt, time_s=time.time(), step=step, host=host, port=port,
            reason=reason,
        )  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab+") as file:
            if file.tell() and _last_byte(file) != b"\n":  # a line that a kill has cut
                file.write(b"\n")
            file.write(json.dumps(to_json(event)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[Event]:
        """All events; a line that is being written, or that a kill has cut, is left out."""
        try:
            lines = self._path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        return [from_json(Event, json.loads(line)) for line in lines if _is_whole(line)]

    def last(self) -> Event | None:
        """The newest event."""
        events = self.read()
        return events[-1] if events else None

    def owner(self) -> str:
        """The attempt that began last; empty where none has."""
        begun = [event.attempt for event in self.read() if event.kind == STARTED]
        return begun[-1] if begun else ""


def _last_byte(file: BinaryIO) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def _is_whole(line: bytes) -> bool:
    """The beginning of an object is never one itself."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
