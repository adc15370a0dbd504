"""What can be done with a sweep that was submitted, by whoever knows its folder."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from toolorchestra.entry.plainly import FAULT
from toolorchestra.launch.cluster import Cluster
from toolorchestra.launch.job.journal import CANCELLED, FINISHED, Journal
from toolorchestra.launch.status import ENDED, LOST, PointStatus, count_states, statuses
from toolorchestra.launch.submit import submit
from toolorchestra.launch.summary import points_table, tell_sweep
from toolorchestra.launch.sweep import read_sweep
from toolorchestra.launch.watch import Watch
from toolorchestra.report.shown import show_table


def wait(folder: Path, cluster: Cluster) -> int:
    """Waits for all points and prints what came of them; the exit status."""
    points = Watch(folder, cluster).wait()
    tell_sweep(folder, points)
    unfinished = [status for status in points if status.state != FINISHED]
    if unfinished:
        print(
            f"error: {len(unfinished)} of {len(points)} points did not finish:",
            *(f"  point {s.point.number} {s.state}: {s.reason}" for s in unfinished),
            sep="\n",
            file=sys.stderr,
        )
    return FAULT if unfinished else 0


def tell_status(folder: Path, cluster: Cluster) -> int:
    """Prints how all points fare."""
    points = statuses(folder, read_sweep(folder), cluster)
    show_table(points_table(folder, points))
    print(count_states(points))
    return 0


def cancel(folder: Path, cluster: Cluster, numbers: list[int]) -> int:
    """Ends points that have not ended yet."""
    points = [s for s in _chosen(folder, cluster, numbers) if s.state not in ENDED]
    cluster.cancel([s.point.job_ids[-1] for s in points if s.point.job_ids])
    for status in points:  # the cluster forgets
        job_id = status.point.job_ids[-1] if status.point.job_ids else ""
        Journal(status.run_dir).write(
            CANCELLED, job_id, step=status.step, host=platform.node(), reason="by command"
        )
    print(f"cancelled {len(points)} points")
    return 0


def resubmit(folder: Path, cluster: Cluster, numbers: list[int]) -> int:
    """Submits points again that ended without finishing; they go on where they stood."""
    sweep = read_sweep(folder)
    points = [s for s in _chosen(folder, cluster, numbers) if s.state in ENDED | {LOST}]
    again = [s.point.number for s in points if s.state != FINISHED]
    if not again:
        raise ValueError("launcher: no such point has ended without finishing; see status")
    submit(folder, sweep, again)
    print(f"submitted again: {', '.join(map(str, again))}; now: wait {folder}")
    return 0


def _chosen(folder: Path, cluster: Cluster, numbers: list[int]) -> list[PointStatus]:
    points = statuses(folder, read_sweep(folder), cluster)
    known = {status.point.number for status in points}
    if unknown := sorted(set(numbers) - known):
        raise ValueError(f"launcher: there is no point {unknown[0]}; use {sorted(known)}")
    return [s for s in points if not numbers or s.point.number in numbers]
