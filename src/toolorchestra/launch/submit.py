"""Hands jobs to submitit, such as the points of a sweep: one array for all that come at once."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import submitit

from toolorchestra.entry.snapshot import FOLDER as CODE
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.task import PointJob
from toolorchestra.launch.sweep import Resources, Sweep, run_dir_of, write_sweep

JOBS_FOLDER = "jobs"
"""In a sweep's folder: what submitit writes."""
FOREVER_MIN = 60 * 24 * 365


def submit(folder: Path, sweep: Sweep, numbers: Sequence[int]) -> Sweep:
    """Submits some points, and writes down by which jobs they run.

    Args:
        folder: The sweep's.
        sweep: What it consists of.
        numbers: Of the points to submit.

    Raises:
        ValueError: They were refused; nothing was submitted.
    """
    options = sweep.launcher
    chosen = [point for point in sweep.points if point.number in set(numbers)]
    jobs = [
        PointJob(
            run_dir=run_dir_of(folder, point),
            code=folder.resolve() / CODE,
            overrides=point.overrides,
            group=sweep.group,
            launcher=options,
        )
        for point in chosen
    ]
    job_ids = submit_jobs(folder, options, sweep.resources, jobs, name=folder.name)
    sweep = sweep.submitted(
        {point.number: job_id for point, job_id in zip(chosen, job_ids, strict=True)}
    )
    write_sweep(folder, sweep)
    return sweep


def submit_jobs(
    folder: Path,
    options: LauncherConfig,
    resources: Resources,
    jobs: Sequence[Callable[[], None]],
    *,
    name: str,
) -> list[str]:
    """Submits what jobs are to do, which need the same resources; returns their ids.

    Args:
        folder: With a copy of the code; submitit's files are added.
        options: The `launcher` group.
        resources: Of each job.
        jobs: What is called in each task of each job.
        name: Of the jobs, for humans.

    Raises:
        ValueError: They were refused; nothing was submitted.
    """
    executor = submitit.AutoExecutor(
        folder=folder / JOBS_FOLDER,
        cluster=options.kind,
        **{f"{options.kind}_python": options.python},
    )
    executor.update_parameters(**parameters(folder, options, resources, name=name))
    try:
        with _importing(folder.resolve() / CODE), executor.batch():
            submitted = [executor.submit(job) for job in jobs]
    except (submitit.core.utils.FailedJobError, submitit.core.utils.FailedSubmissionError) as error:
        raise ValueError(f"launcher: the jobs were refused: {_sentence(error)}") from error
    return [job.job_id for job in submitted]


def parameters(
    folder: Path, options: LauncherConfig, resources: Resources, *, name: str
) -> dict[str, Any]:
    """Submitit's parameters for the `launcher` group."""
    shared = {"nodes": resources.num_nodes, "tasks_per_node": resources.tasks_per_node}
    if options.kind == "local":
        limit = {"timeout_min": FOREVER_MIN, "gpus_per_node": resources.gpus_per_node}
        return shared | limit | ({"local_setup": options.setup} if options.setup else {})
    code = str(folder.resolve() / CODE / "src")
    slurm = {
        "job_name": f"toolorchestra-{name}",
        "time": options.time_min,
        "signal_delay_s": options.signal_s,
        "cpus_per_task": options.cpus_per_task,
        "mem": None if options.mem_gb is None else f"{int(1024 * options.mem_gb)}MB",
        "gres": f"{options.gres}:{resources.gpus_per_node}" if resources.gpus_per_node else None,
        "partition": options.partition,
        "account": options.account,
        "qos": options.qos,
        "constraint": options.constraint,
        "array_parallelism": options.max_parallel,
        "setup": [f"export PYTHONPATH={shlex.quote(code)}", *options.setup],
        "srun_args": _srun_args(folder, options),
        "additional_parameters": {"requeue": True, **options.sbatch},
    }
    return shared | {f"slurm_{key}": value for key, value in slurm.items() if value is not None}


@contextlib.contextmanager
def _importing(code: Path) -> Iterator[None]:
    """Local jobs get this process's environment: the copy of the code goes first in theirs."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(code / "src")
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _srun_args(folder: Path, options: LauncherConfig) -> list[str]:
    # srun does not inherit the number of CPUs; one task killed alone would leave the others waiting
    arguments = [f"--cpus-per-task={options.cpus_per_task}", "--kill-on-bad-exit=1"]
    if options.container_image:
        here = {str(folder.resolve()), os.getcwd()}
        mounts = [*(f"{path}:{path}" for path in sorted(here)), *options.container_mounts]
        arguments.append(f"--container-image={options.container_image}")
        arguments.append(f"--container-mounts={','.join(mounts)}")
    return [*arguments, *options.srun_args]


def _sentence(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("sbatch: error:", "srun: error:"))]
    return (said or lines or [type(error).__name__])[0].removeprefix("sbatch: error: ")
