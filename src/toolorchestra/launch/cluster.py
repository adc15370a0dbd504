"""What runs the jobs: Slurm, by its own commands, or submitit's processes on this machine.

`squeue` is asked how jobs fare, and `sacct` only of those that it has forgotten: clusters without
accounting have none, and its answers lag behind.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

import psutil
import submitit

from toolorchestra.entry.stop import STOPPED
from toolorchestra.process import shielding

QUEUED = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD",
     "SPECIAL_EXIT", "SUSPENDED"}
)  # fmt: skip
RUNNING = frozenset({"RUNNING", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"})
FORGOTTEN = "no longer known"
"""Of a job that has ended so long ago that nothing is kept of it."""
ANSWER_S = 60.0
"""How long a command of Slurm may take to answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobState:
    """How a job fares."""

    kind: str
    """"queued", "running" or "ended"."""
    detail: str = ""
    """Slurm's word for it, or why it waits."""


class Cluster(Protocol):
    """What runs jobs."""

    def states(self, job_ids: Sequence[str]) -> Mapping[str, JobState]:
        """How each of these jobs fares.

        Raises:
            ConnectionError: Nobody answers at the moment.
        """
        ...

    def cancel(self, job_ids: Sequence[str]) -> None:
        """Ends jobs that wait or run."""
        ...


class SlurmCluster:
    """Jobs of Slurm."""

    def states(self, job_ids: Sequence[str]) -> Mapping[str, JobState]:
        """See `Cluster`; a job that Slurm has forgotten has ended."""
        found: dict[str, JobState] = {}
        for parent in sorted({job_id.partition("_")[0] for job_id in job_ids}):
            found |= {name: _state(word, reason) for name, word, reason in _squeue(parent)}
        forgotten = [job_id for job_id in job_ids if job_id not in found]
        words = _accounted(forgotten) if forgotten else {}
        for job_id in forgotten:
            detail = words.get(job_id, FORGOTTEN)
            found[job_id] = JobState(kind="ended", detail=detail)
        return {job_id: found[job_id] for job_id in job_ids}

    def cancel(self, job_ids: Sequence[str]) -> None:
        """See `Cluster`."""
        if job_ids:
            ask(["scancel", *job_ids])


class LocalCluster:
    """Processes that submitit's local executor has started; a job's name is that of its process."""

    def states(self, job_ids: Sequence[str]) -> Mapping[str, JobState]:
        """See `Cluster`."""
        return {
            job_id: JobState(kind="ended" if _controller(job_id) is None else "running")
            for job_id in job_ids
        }

    def cancel(self, job_ids: Sequence[str]) -> None:
        """Kills each job with all that it has started."""
        for job_id in job_ids:
            if (controller := _controller(job_id)) is not None:
                tree = [controller, *controller.children(recursive=True)]
                for process in tree:
                    with contextlib.suppress(psutil.Error):
                        process.kill()
                psutil.wait_procs(tree, timeout=10)


def cluster_of(kind: str) -> Cluster:
    """The cluster for a `launcher.kind`."""
    return SlurmCluster() if kind == "slurm" else LocalCluster()


def is_ending(kind: str, job_id: str) -> bool:
    """Whether Slurm has ended this job already, as seen from inside it once it was signalled.

    So it is where somebody cancels or requeues it; one that is preempted or near its time limit
    still counts as running.
    """
    if kind != "slurm":
        return False
    # where Slurm says nothing, the job counts as running: a requeue too many does no harm
    with contextlib.suppress(ValueError, ConnectionError):
        state = ask(["scontrol", "--oneliner", "show", "job", job_id])
        return any(f"JobState={word}" in state for word in ("COMPLETING", "CANCELLED"))
    return False


def queue_again() -> NoReturn:
    """Has submitit queue this job again, in whose place the cluster then ends this process.

    Raises:
        SystemExit: Always.
    """
    with shielding():  # scontrol would hear Slurm's signals to this job
        submitit.JobEnvironment()._requeue(0)
    sys.exit(STOPPED)


def ask(command: Sequence[str]) -> str:
    """What a command of Slurm prints.

    Raises:
        ValueError: It is not installed, or refuses; with its own words.
        ConnectionError: Slurm does not answer.
    """
    try:
        with shielding():  # inside a job, a signal would reach the command as well
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=ANSWER_S, check=False,
                env={**os.environ, "LC_ALL": "C"},
            )  # fmt: skip
    except FileNotFoundError as error:
        raise ValueError(
            f"launcher: there is no {command[0]} on this machine; submit from a login node of the "
            "cluster, or use launcher=local or launcher=serial"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ConnectionError(f"{command[0]} has not answered for {ANSWER_S:.0f} s") from error
    if done.returncode == 0:
        return done.stdout
    said = " ".join((done.stderr or done.stdout).split())
    silent = ("Unable to contact", "onnection", "timed out", "configuration source")
    if any(words in said for words in silent):
        raise ConnectionError(said)
    raise ValueError(said)


def _squeue(parent: str) -> Iterable[tuple[str, str, str]]:
    command = ["squeue", "--states=all", "--array", "--noheader", "--format=%i|%T|%r"]
    try:
        lines = ask([*command, f"--jobs={parent}"]).splitlines()
    except ValueError as error:
        if "Invalid job id" in str(error):
            return []
        raise ConnectionError(str(error)) from error
    rows = (line.strip().split("|", 2) for line in lines)
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def _accounted(job_ids: Sequence[str]) -> Mapping[str, str]:
    """How jobs ended that squeue has forgotten, where the cluster keeps accounts."""
    command = ["sacct", "--allocations", "--noheader", "--parsable2", "--format=JobID,State"]
    try:
        lines = ask([*command, f"--jobs={','.join(job_ids)}"]).splitlines()
    except (ValueError, ConnectionError):
        return {}
    rows = (line.partition("|")[::2] for line in lines)
    return {job_id: state for job_id, state in rows}


def _state(word: str, reason: str) -> JobState:
    if word in QUEUED:
        return JobState(kind="queued", detail=reason if reason != "None" else "")
    if word in RUNNING:
        return JobState(kind="running", detail="" if word == "RUNNING" else word)
    return JobState(kind="ended", detail=word)


def _controller(job_id: str) -> psutil.Process | None:
    """The process of a local job, unless its number is another's by now."""
    try:
        process = psutil.Process(int(job_id))
        is_ours = "submitit.local._local" in " ".join(process.cmdline())
        return process if is_ours and process.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.Error, ValueError):
        return None
