"""A job's first task: keeps the first rank, decides how the attempt ends and what follows it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from toolorchestra.entry.run_dir import RUN_FILE, claim
from toolorchestra.entry.stop import STOPPED, Signals, StopFile
from toolorchestra.launch.cluster import is_ending, queue_again
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.child import Child
from toolorchestra.launch.job.journal import (
    BROKEN_OFF,
    CANCELLED,
    CRASHED,
    FAILED,
    FINISHED,
    PREEMPTED,
    STARTED,
    TIMED_OUT,
    Event,
    Journal,
)
from toolorchestra.launch.job.other_rank import lost_rank
from toolorchestra.launch.job.place import Place
from toolorchestra.process import free_port
from toolorchestra.report.comparison import SUMMARY
from toolorchestra.trainer.checkpoint import newest_step

LOOK_S, OWNER_S = 0.5, 3.0
"""Between two looks at the process, and at whether another attempt has begun."""
RELEASE_S = 180.0
"""How long an attempt that was given up may take to notice and let go of the folder."""
NOTICE_S = 5.0
"""How long a rank that died may take to be seen as dead."""
END_SLACK_S = 60.0
"""Slurm's clock is coarse: a signal this much too early still counts as that of the end."""


def idle_restarts(events: Sequence[Event], step: int) -> int:
    """Attempts in a row, up to now, that ended of themselves without a newer checkpoint."""
    count = 0
    for event in reversed(events):
        if event.step < step:
            break
        count += event.kind in (CRASHED, TIMED_OUT)
    return count


class FirstRank:
    """One attempt at a point."""

    def __init__(
        self,
        run_dir: Path,
        options: LauncherConfig,
        place: Place,
        *,
        start: Callable[[dict[str, str]], Child],
    ) -> None:
        """Takes what to keep.

        Args:
            run_dir: The point's folder.
            options: The `launcher` group.
            place: Of this task.
            start: Starts the training with some variables in its environment.
        """
        self._run_dir, self._options, self._place, self._start = run_dir, options, place, start
        self._journal, self._stop = Journal(run_dir), StopFile(run_dir)
        self._begun_s = time.monotonic()

    def keep(self) -> None:
        """Sees the attempt through.

        Raises:
            RuntimeError: The point failed.
            SystemExit: The job is queued again, or was given up for another.
        """
        if (self._run_dir / SUMMARY).exists():
            return
        with Signals() as signals:
            port = free_port() if self._place.num_ranks > 1 else 0
            self._stop.remove()
            self._write(STARTED, port=port)
            kind, reason = self._attempt(signals, port)
            self._write(kind, reason=reason)
            if kind == FAILED:
                raise RuntimeError(reason)
            if kind in (CRASHED, TIMED_OUT, PREEMPTED):
                queue_again()

    def _write(self, kind: str, *, port: int = 0, reason: str = "") -> None:
        self._journal.write(
            kind,
            self._place.attempt,
            step=newest_step(self._run_dir),
            host=self._place.host,
            port=port,
            reason=reason,
        )

    def _attempt(self, signals: Signals, port: int) -> tuple[str, str]:
        """Trains; what came of it, and why."""
        if not self._get_folder(signals):
            why = "an attempt that was given up does not let go"
            return self._stopped() if signals.heard else self._restarts(CRASHED, why)
        child = self._start(self._place.environment(self._place.host, port))
        try:
            status, was_lost = self._watch(child, signals)
        finally:
            child.kill()
        if status == 0:
            return FINISHED, ""
        if signals.heard and status in (None, STOPPED):
            return self._stopped()
        if status == STOPPED:
            return CANCELLED, f"somebody made {self._run_dir / 'stop'}"
        reason = was_lost or self._lost(status)
        if reason:
            return self._restarts(CRASHED, reason)
        return FAILED, f"{child.last_words()} (see {child.log})"

    def _get_folder(self, signals: Signals) -> bool:
        """Waits until no earlier attempt is at work in the folder; False: in vain."""
        deadline = time.monotonic() + RELEASE_S
        while (self._run_dir / RUN_FILE).exists() and not signals.heard:
            if claimed := claim(self._run_dir):
                claimed.close()
                break
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK_S)
        return not signals.heard

    def _watch(self, child: Child, signals: Signals) -> tuple[int | None, str]:
        """Waits for the end of the process; None where it had to be broken off, and why.

        Raises:
            SystemExit: Another attempt has begun: this one is given up.
        """
        stop_at = owner_at = 0.0
        while (status := child.status()) is None:
            now = time.monotonic()
            if now >= owner_at:
                owner_at = now + OWNER_S
                if self._journal.owner() != self._place.attempt:
                    sys.exit(STOPPED)
                if lost := lost_rank(self._run_dir, self._place.attempt):
                    return None, lost
            if signals.heard and not stop_at:
                stop_at = now + self._options.stop_within_s
                self._stop.ask()
            if stop_at and now > stop_at:
                return None, ""
            time.sleep(LOOK_S)
        return status, ""

    def _stopped(self) -> tuple[str, str]:
        if is_ending(self._options.kind, self._place.job_id):
            return BROKEN_OFF, ""
        left_s = 60 * self._options.time_min - (time.monotonic() - self._begun_s)
        if left_s > self._options.signal_s + END_SLACK_S:
            return PREEMPTED, ""
        return self._restarts(TIMED_OUT, f"ran for the {self._options.time_min} minutes it had")

    def _restarts(self, kind: str, reason: str) -> tuple[str, str]:
        """`kind`, unless this happens again and again at one and the same step."""
        job_id = self._place.job_id  # what came before a resubmission does not count
        events = [event for event in self._journal.read() if event.job_id == job_id]
        idle = idle_restarts(events, newest_step(self._run_dir))
        if idle < self._options.max_idle_restarts:
            return kind, reason
        return FAILED, (
            f"{reason}; no new checkpoint after {idle} restarts, see {self._journal.folder}, and "
            "for time launcher.time_min and trainer.checkpoint_every"
        )

    def _lost(self, status: int | None) -> str:
        """What is to be said where a signal ended this rank or another; empty elsewhere."""
        if status is not None and status < 0:
            return f"the first rank ended by signal {-status}"
        deadline = time.monotonic() + (NOTICE_S if self._place.num_ranks > 1 else 0)
        while not (lost := lost_rank(self._run_dir, self._place.attempt)):
            if time.monotonic() >= deadline:
                break
            time.sleep(0.1)
        return lost
