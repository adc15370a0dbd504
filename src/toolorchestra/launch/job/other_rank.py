"""A job's other tasks: each keeps one rank beside the first, for as long as the attempt lasts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from toolorchestra.entry.stop import Signals
from toolorchestra.launch.job.child import Child
from toolorchestra.launch.job.journal import FOLDER, STARTED, Event, Journal
from toolorchestra.launch.job.place import Place
from toolorchestra.report.comparison import SUMMARY
from toolorchestra.report.files import replace_text

LOOK_S = 1.0
PATIENCE_S = 300.0
"""How long the first task may take to begin, and to decide after a rank was lost."""


def lost_rank(run_dir: Path, attempt: str) -> str:
    """Says which rank beside the first has died in an attempt, and how; empty if none has."""
    for path in sorted((run_dir / FOLDER).glob("lost_*.json")):
        record = json.loads(path.read_text())
        if record["attempt"] == attempt:
            return f"rank {record['rank']} ended with status {record['status']}: {record['said']}"
    return ""


class OtherRank:
    """One rank of one attempt."""

    def __init__(
        self, run_dir: Path, place: Place, *, start: Callable[[dict[str, str], int], Child]
    ) -> None:
        """Takes what to keep.

        Args:
            run_dir: The point's folder.
            place: Of this task.
            start: Starts a rank with some variables in its environment.
        """
        self._run_dir, self._place, self._start = run_dir, place, start
        self._journal = Journal(run_dir)

    def keep(self) -> None:
        """Sees the rank through.

        Raises:
            RuntimeError: It died, and the first task did not react.
        """
        with Signals():  # the first task alone decides what they mean
            first = self._await_first()
            if first is None:
                return
            child = self._start(self._place.environment(first.host, first.port), self._place.rank)
            try:
                while (status := child.status()) is None and self._is_going_on():
                    time.sleep(LOOK_S)
            finally:
                child.kill()
            if status and self._is_going_on():
                self._report(status, child)

    def _await_first(self) -> Event | None:
        """The first task's beginning; None where that found nothing left to do."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and not (self._run_dir / SUMMARY).exists():
            last = self._journal.last()
            if last is not None and last.attempt == self._place.attempt:
                return last if last.kind == STARTED else None
            time.sleep(LOOK_S)
        return None

    def _is_going_on(self) -> bool:
        last = self._journal.last()
        return last is not None and last.attempt == self._place.attempt and last.kind == STARTED

    def _report(self, status: int, child: Child) -> None:
        """Tells the first task, and waits for what it decides."""
        record = {"attempt": self._place.attempt, "rank": self._place.rank, "status": status}
        path = self._journal.folder / f"lost_{self._place.rank}.json"
        replace_text(path, json.dumps(record | {"said": child.last_words()}))
        deadline = time.monotonic() + PATIENCE_S
        while self._is_going_on():
            if time.monotonic() > deadline:
                raise RuntimeError(f"rank {self._place.rank} ended with status {status}")
            time.sleep(LOOK_S)
