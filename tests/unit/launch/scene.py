"""Stand-ins for Slurm's commands, small sweeps, and processes that play the task of a job."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.sweep import Point, Resources, Sweep, run_dir_of, write_sweep

COMMANDS = ("squeue", "scontrol", "sinfo", "sbatch", "scancel", "srun", "sacct")
PLACE = (
    "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "NODE_RANK", "LOCAL_RANK", "WANDB_RUN_GROUP",
)  # fmt: skip


def put_command(folder: Path, name: str, script: str) -> Path:
    """Makes a shell script; what it is called with is added to `<name>.calls` beside it."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" >> {folder}/{name}.calls\n{script}\n')
    path.chmod(0o755)
    return path


def hide_slurm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test does, it reaches no Slurm: its commands come first on PATH and refuse."""
    for name in COMMANDS:
        put_command(folder, name, f'echo "{name}: error: not in a unit test" >&2; exit 1')
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    for name in [name for name in os.environ if name.startswith(("SLURM", "SUBMITIT", *PLACE))]:
        monkeypatch.delenv(name)


def make_sweep(
    folder: Path,
    *points: tuple[str, ...],
    job_ids: Mapping[int, str] | None = None,
    resources: Resources | None = None,
    **options: Any,
) -> Sweep:
    """Writes a sweep with its points' folders; `job_ids` are those of points that are submitted."""
    sweep = Sweep(
        command="train.py -m",
        submitted_at=1.5,
        group="a group",
        launcher=LauncherConfig(**({"kind": "slurm", "poll_s": 0.01} | options)),
        resources=resources or Resources(),
        points=tuple(Point(number=i, overrides=words) for i, words in enumerate(points)),
    ).submitted(job_ids or {})
    for point in sweep.points:
        run_dir_of(folder, point).mkdir(parents=True)
    write_sweep(folder, sweep)
    return sweep


def until(condition: Callable[[], object], *, timeout_s: float = 20.0) -> None:
    """Waits for something to come about."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be taken note of does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def in_a_task(run: Callable[[], Any], *, timeout_s: float = 20.0) -> Any:
    """What `run` returns, or raises, in a process of its own: its children, its signals."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, pickle.dumps(_outcome(run)))
        os._exit(0)
    os.close(write)
    try:
        assert select.select([read], [], [], timeout_s)[0], "it never ended"
        said = os.read(read, 65536)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read)
    value, error = pickle.loads(said)
    if error is not None:
        raise error
    return value


def _outcome(run: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return run(), None
    except BaseException as error:
        return None, error
