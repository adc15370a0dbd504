"""Waits for all points of a submitted sweep, and submits those again whose jobs vanished."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolorchestra.launch.cluster import Cluster
from toolorchestra.launch.job.journal import FAILED
from toolorchestra.launch.status import (
    ENDED,
    LOST,
    QUEUED,
    RUNNING,
    WAITING,
    PointStatus,
    count_states,
    statuses,
)
from toolorchestra.launch.submit import submit
from toolorchestra.launch.sweep import read_sweep

log = logging.getLogger(__name__)

SILENCE_S = 3600.0
"""How long the cluster may give no answer before the wait ends; the jobs go on."""


class Watch:
    """The wait for one sweep, until each of its points has ended."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        """Takes the sweep's folder."""
        self._folder, self._cluster = folder, cluster
        self._sweep = read_sweep(folder)
        self._told: dict[int, tuple[str, int, str]] = {}
        self._missing: dict[int, int] = {}
        """Looks in a row at which a point was lost: a job may be between two states."""
        self._lost_at: dict[int, list[int]] = {}
        """Steps at which a point was lost."""

    def wait(self) -> list[PointStatus]:
        """Waits; tells what changes.

        Raises:
            ValueError: The cluster has not answered for long.
        """
        heard = time.monotonic()
        while True:
            try:
                points = self.look()
                heard = time.monotonic()
                if all(status.state in ENDED for status in points):
                    return points
            except ConnectionError as error:
                log.warning("the cluster does not answer (%s); its jobs go on", error)
                if time.monotonic() - heard > SILENCE_S:
                    raise ValueError(
                        f"launcher: no answer for {SILENCE_S / 60:.0f} minutes ({error}); later, "
                        f"python -m toolorchestra.launch wait {self._folder}"
                    ) from error
            time.sleep(self._sweep.launcher.poll_s)

    def look(self) -> list[PointStatus]:
        """How all points fare now; submits what is to be."""
        self._sweep = read_sweep(self._folder)  # somebody may have resubmitted points
        points = [self._judge(s) for s in statuses(self._folder, self._sweep, self._cluster)]
        self._tell(points)
        self._submit(points)
        return points

    def _judge(self, status: PointStatus) -> PointStatus:
        """Gives up a point whose jobs vanish again and again at one step."""
        number, limit = status.point.number, self._sweep.launcher.max_idle_restarts
        self._missing[number] = self._missing.get(number, 0) + 1 if status.state == LOST else 0
        lost_here = [step for step in self._lost_at.get(number, []) if step == status.step]
        if self._missing[number] < 2 or len(lost_here) < limit:
            return status
        reason = f"its jobs ended without a word ({status.reason}) {limit + 1} times at one step"
        return replace(status, state=FAILED, reason=reason)

    def _submit(self, points: Sequence[PointStatus]) -> None:
        """Submits what waits for room, and again what is lost."""
        limit = self._sweep.launcher.max_parallel
        # no array's limit holds back what is submitted again by itself
        room = limit - sum(status.state == RUNNING for status in points)
        lost = [
            status
            for status in points
            if status.state == LOST and self._missing[status.point.number] >= 2
        ][: max(room, 0)]
        again = [status.point.number for status in lost]
        waiting = [status.point.number for status in points if status.state == WAITING]
        busy = sum(status.state in (QUEUED, RUNNING, LOST) for status in points)
        due = again + waiting[: max(limit - busy, 0)]
        if due:
            try:
                self._sweep = submit(self._folder, self._sweep, due)
            except ValueError as error:  # what it took before, it may take again
                raise ConnectionError(str(error)) from error
            for status in lost:
                self._missing[status.point.number] = 0
                self._lost_at.setdefault(status.point.number, []).append(status.step)
            verb = "again " if again else ""
            log.info("submitted %s%s", verb, ", ".join(f"point {number}" for number in due))

    def _tell(self, points: Sequence[PointStatus]) -> None:
        changed = False
        for status in points:
            now = (status.state, status.step, status.reason)
            if self._told.get(status.point.number) != now:
                self._told[status.point.number], changed = now, True
                job = status.point.job_ids[-1] if status.point.job_ids else "-"
                why = f": {status.reason}" if status.reason else ""
                log.info(
                    "point %d (job %s) %s at step %d%s",
                    status.point.number, job, status.state, status.step, why,
                )  # fmt: skip
        if changed:
            log.info("%s", count_states(points))
