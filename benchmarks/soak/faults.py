"""Faults that befall a point at work; each says whether there was something to harm."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from toolorchestra.launch.status import PointStatus

NODE = Path(__file__).parents[2] / "slurm/dev/node.sh"
DOWN_S = 25.0
"""How long a failed node stays away."""
SIGNAL_S = 5.0
_node_lock = threading.Lock()


def kill_training(victim: PointStatus) -> bool:
    """SIGKILL to the first rank's process."""
    process = _training(victim)
    if process is None:
        return False
    process.kill()
    return True


def kill_job(victim: PointStatus) -> bool:
    """SIGKILL to the job's own task."""
    process = _training(victim)
    parent = process.parent() if process else None
    if parent is None or parent.pid == 1:
        return False
    parent.kill()
    return True


def requeue(victim: PointStatus) -> bool:
    """An administrator's requeue."""
    return _run("scontrol", "requeue", victim.point.job_ids[-1])


def term(victim: PointStatus) -> bool:
    """SIGTERM to all that the job runs."""
    return _run("scancel", "--signal=TERM", victim.point.job_ids[-1])


def user_signal(victim: PointStatus) -> bool:
    """The signal of a time limit or a preemption, SIGUSR2."""
    return _run("scancel", "--signal=USR2", victim.point.job_ids[-1])


def preempt(victim: PointStatus) -> bool:
    """A job of the upper partition that wants a whole node, soon."""
    return _run("sbatch", "--partition=high", "--exclusive", "--output=/dev/null",
                "--wrap=sleep 3")  # fmt: skip


def cut_off_node(victim: PointStatus) -> bool:
    """The daemon of the point's node dies; its processes run on."""
    return _fail_node(victim, "kill")


def crash_node(victim: PointStatus) -> bool:
    """The node dies with all that runs on it."""
    return _fail_node(victim, "crash")


FAULTS: dict[str, Callable[[PointStatus], bool]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        kill_training, kill_job, requeue, term, user_signal, preempt, cut_off_node, crash_node,
    )
}  # fmt: skip


def _training(victim: PointStatus) -> psutil.Process | None:
    """The process of the first rank."""
    return next((p for p in psutil.process_iter() if _is_training(p, victim.run_dir)), None)


def _is_training(process: psutil.Process, run_dir: Path) -> bool:
    try:
        words = process.cmdline()
        return "train.py" in words and f"hydra.run.dir='{run_dir}'" in words
    except psutil.Error:
        return False


def _fail_node(victim: PointStatus, how: str) -> bool:
    """One node at a time; it comes back of itself."""
    where = subprocess.run(
        ["squeue", "-h", "-o", "%N", "-j", victim.point.job_ids[-1]],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    if where not in ("n1", "n2") or not _node_lock.acquire(blocking=False):
        return False
    _run(str(NODE), how, where)

    def come_back() -> None:
        time.sleep(DOWN_S)
        _run(str(NODE), "start", where)
        _node_lock.release()

    threading.Thread(target=come_back).start()
    return True


def _run(*command: str) -> bool:
    """Whether a command succeeds; scancel may go on trying long after the signal has arrived."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=SIGNAL_S)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode == 0
