"""How each point of a sweep fares, by what it left on disk and what the cluster says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.launch.cluster import FORGOTTEN, Cluster, JobState
from toolorchestra.launch.job.journal import (
    BROKEN_OFF,
    CANCELLED,
    CRASHED,
    FAILED,
    FINISHED,
    FOLDER,
    PREEMPTED,
    STARTED,
    TIMED_OUT,
    Journal,
)
from toolorchestra.launch.sweep import Point, Sweep, run_dir_of
from toolorchestra.report.comparison import SUMMARY
from toolorchestra.trainer.checkpoint import newest_step

WAITING, QUEUED, RUNNING, LOST = "waiting", "queued", "running", "lost"
"""Not submitted yet; submitted; at work; its job has ended, and nobody knows how."""
ENDED = frozenset({FINISHED, FAILED, CANCELLED})


@dataclass(frozen=True, kw_only=True, slots=True)
class PointStatus:
    """How one point fares."""

    point: Point
    run_dir: Path
    state: str
    step: int
    """Step that its newest checkpoint goes on with."""
    attempts: int
    """Times that it was begun."""
    reason: str = ""

    @property
    def log(self) -> Path:
        """What the training says."""
        return self.run_dir / FOLDER / "log.txt"


def statuses(folder: Path, sweep: Sweep, cluster: Cluster) -> list[PointStatus]:
    """How all points fare.

    Raises:
        ConnectionError: The cluster does not answer at the moment.
    """
    active = [point.job_ids[-1] for point in sweep.points if point.job_ids]
    jobs = cluster.states(active)
    return [_status(run_dir_of(folder, point), point, jobs) for point in sweep.points]


def _status(run_dir: Path, point: Point, jobs: Mapping[str, JobState]) -> PointStatus:
    events = Journal(run_dir).read()
    job_id = point.job_ids[-1] if point.job_ids else ""
    last = next((event for event in reversed(events) if event.job_id == job_id), None)
    state, reason = WAITING, ""
    if (run_dir / SUMMARY).exists():
        state = FINISHED
    elif cancelled := [e for e in events if e.kind == CANCELLED and e.job_id == job_id]:
        state, reason = CANCELLED, cancelled[-1].reason  # a rank that loses the others fails
    elif last is not None and last.kind == FAILED:
        state, reason = last.kind, last.reason
    elif job_id:
        job = jobs[job_id]
        state = {"queued": QUEUED, "running": RUNNING, "ended": LOST}[job.kind]
        reason = job.detail
        is_broken_off = last is not None and last.kind == BROKEN_OFF
        if state == LOST and (
            job.detail.startswith("CANCELLED") or (is_broken_off and job.detail == FORGOTTEN)
        ):
            state = CANCELLED
        elif state == QUEUED and last is not None and last.kind in (PREEMPTED, TIMED_OUT, CRASHED):
            reason = f"{last.kind} {last.reason}".strip()
    return PointStatus(
        point=point,
        run_dir=run_dir,
        state=state,
        step=newest_step(run_dir),
        attempts=sum(event.kind == STARTED for event in events),
        reason=reason,
    )


def count_states(points: Sequence[PointStatus]) -> str:
    """How many points are in each state, e.g. "3 running, 1 finished"."""
    counts: dict[str, int] = {}
    for status in points:
        counts[status.state] = counts.get(status.state, 0) + 1
    return ", ".join(f"{count} {state}" for state, count in counts.items())
