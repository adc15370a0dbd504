"""What the tests here do with sweeps of the stand-in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.slurm.conftest import until
from tests.slurm.stand_in import ROOT, attempts_of, make_sweep

from toolorchestra.launch.cluster import SlurmCluster
from toolorchestra.launch.job.journal import Journal
from toolorchestra.launch.status import PointStatus
from toolorchestra.launch.submit import submit
from toolorchestra.launch.sweep import Sweep
from toolorchestra.launch.watch import Watch


def start(folder: Path, *points: tuple[str, ...], **options: object) -> Sweep:
    """Submits a sweep of the stand-in."""
    sweep = make_sweep(folder, *points, **options)
    return submit(folder, sweep, [point.number for point in sweep.points])


def wait(folder: Path) -> list[PointStatus]:
    """Waits for all points."""
    return Watch(folder, SlurmCluster()).wait()


def states(points: list[PointStatus]) -> list[str]:
    """In what state each is."""
    return [status.state for status in points]


def kinds(folder: Path, number: int = 0) -> list[str]:
    """What befell a point."""
    return [event.kind for event in Journal(folder / str(number)).read()]


def in_training(folder: Path, number: int = 0) -> int:
    """Until a point has done a step; the process of its training."""
    until(lambda: (folder / str(number) / "steps.txt").exists())
    return attempts_of(folder, number)[-1][0]


def accounting(job_id: str) -> str:
    """State and exit code that Slurm keeps of a job."""
    return run("sacct", "-X", "-n", "-P", "-o", "State,ExitCode", "-j", job_id)


def launch(action: str, folder: Path, *numbers: str) -> subprocess.CompletedProcess[str]:
    """python -m toolorchestra.launch, from another process."""
    command = [sys.executable, "-m", "toolorchestra.launch", action, str(folder), *numbers]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def run(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def preempting(*options: str) -> Iterator[str]:
    """A job of the upper partition, which takes all nodes for itself."""
    job_id = run("sbatch", "--parsable", "--partition=high", "--nodes=2", "--exclusive",
                 "--output=/dev/null", *options, "--wrap=sleep 600")  # fmt: skip
    try:
        yield job_id
    finally:
        subprocess.run(["scancel", job_id], check=False)
