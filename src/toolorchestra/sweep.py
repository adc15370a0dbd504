"""Submits the points of a sweep as jobs, checked beforehand, and waits for them."""

from __future__ import annotations

import logging
import re
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from toolorchestra.config import Config
from toolorchestra.entry.run_dir import make_run_dir
from toolorchestra.entry.snapshot import take_snapshot
from toolorchestra.launch.actions import cancel, wait
from toolorchestra.launch.cluster import cluster_of
from toolorchestra.launch.partition import check_slurm
from toolorchestra.launch.submit import submit
from toolorchestra.launch.sweep import FILE, Point, Resources, Sweep, run_dir_of, write_sweep
from toolorchestra.worlds import check_worlds

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
"""The project, as it is checked out."""
NOT_A_POINTS = re.compile(r"[+~]*(launcher|hydra)\b")
"""Overrides that say where a point runs, not what it does."""


def launch(
    configs: Sequence[DictConfig], overrides: Sequence[Sequence[str]], sweep_dir: Path
) -> int:
    """Submits one point for each config, and waits unless `launcher.detach`.

    Args:
        configs: As composed, one a point.
        overrides: The command line of each.
        sweep_dir: Where the sweep writes.

    Returns:
        The exit status: not 0 where some point did not finish.

    Raises:
        ValueError: A point, the machine or the cluster does not allow it; nothing was submitted.
    """
    options = [_checked(config, words) for config, words in zip(configs, overrides, strict=True)]
    launcher = options[0].launcher
    if launcher.kind == "serial":
        raise ValueError("launcher.kind: 'serial' is not allowed here; use launcher=serial")
    resources = _resources(options)
    if launcher.kind == "slurm":
        check_slurm(launcher, resources)
    elif resources.num_nodes > 1:
        raise ValueError(
            f"trainer.num_nodes: {resources.num_nodes} is not allowed on one machine; use "
            "launcher=slurm"
        )
    elif launcher.detach and len(options) > launcher.max_parallel:
        raise ValueError(
            f"launcher.max_parallel: {launcher.max_parallel} is not allowed with launcher.detach "
            f"on this machine; use {len(options)}, as nobody would be there to start the rest"
        )
    folder = make_run_dir(sweep_dir.resolve())
    if (folder / FILE).exists():
        raise ValueError(
            f"hydra.sweep.dir: {folder} holds a sweep already; use another folder, or "
            f"python -m toolorchestra.launch resubmit {folder}"
        )
    sweep = Sweep(
        command=shlex.join(sys.argv),
        submitted_at=time.time(),
        group=f"{options[0].experiment.name} {folder.name}",
        launcher=launcher,
        resources=resources,
        points=tuple(
            Point(number=number, overrides=_of_point(words))
            for number, words in enumerate(overrides)
        ),
    )
    for point in sweep.points:
        run_dir_of(folder, point).mkdir(exist_ok=True)
    take_snapshot(ROOT, folder)
    write_sweep(folder, sweep)
    return _submit(folder, sweep)


def _submit(folder: Path, sweep: Sweep) -> int:
    launcher = sweep.launcher
    room = len(sweep.points) if launcher.kind == "slurm" else launcher.max_parallel
    sweep = submit(folder, sweep, [point.number for point in sweep.points[:room]])
    for point in sweep.points:
        job = point.job_ids[-1] if point.job_ids else "waits for room"
        log.info("point %d (job %s): %s", point.number, job, " ".join(point.overrides))
    command = "python -m toolorchestra.launch"
    log.info("%s status|wait|cancel|resubmit %s", command, folder)
    if launcher.detach:
        return 0
    cluster = cluster_of(launcher.kind)
    try:
        return wait(folder, cluster)
    except KeyboardInterrupt:
        if launcher.kind == "slurm":
            log.info("the jobs go on; to end them: %s cancel %s", command, folder)
        else:  # they heard the same Ctrl-C
            cancel(folder, cluster, [])
        raise


def _checked(config: DictConfig, words: Sequence[str]) -> Config:
    """The options of one point.

    Raises:
        ValueError: They are not allowed; names the point.
    """
    try:
        options = OmegaConf.to_object(config)
        if not isinstance(options, Config):
            raise ValueError("hydra.mode: MULTIRUN is for train.py alone; use no -m here")
        check_worlds(options)
        options.trainer.check_dtype(options.model.dtype)
        return options
    except ValueError as error:
        raise ValueError(f"{error} (at {' '.join(_of_point(words)) or 'defaults'})") from error


def _of_point(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if not NOT_A_POINTS.match(word))


def _resources(options: Sequence[Config]) -> Resources:
    """What every job needs.

    Raises:
        ValueError: The points need different things: they would not fit into one array.
    """
    needed = {_resources_of(option) for option in options}
    if len(needed) > 1:
        raise ValueError(
            "trainer.devices, trainer.num_nodes and the GPUs must be the same at all points of a "
            f"sweep that is submitted; here they are {', '.join(map(str, needed))}: submit them "
            "by commands of their own"
        )
    return needed.pop()


def _resources_of(options: Config) -> Resources:
    launcher, trainer, rollout = options.launcher, options.trainer, options.rollout
    gpus = launcher.gpus_per_node
    if gpus is None and launcher.kind == "local":
        gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))
    if gpus is None:
        is_cpu = trainer.accelerator == "cpu"
        gpus = 0 if is_cpu else max(trainer.devices, _gpus_of_rollouts(rollout))
    return Resources(
        num_nodes=trainer.num_nodes, tasks_per_node=trainer.devices, gpus_per_node=gpus
    )


def _gpus_of_rollouts(rollout: Any) -> int:
    """The last GPU that a worker takes, counted from 1."""
    vllm = rollout.vllm
    if rollout.engine != "vllm" or vllm.urls:
        return 0
    return int(vllm.first_gpu + vllm.num_workers * vllm.tensor_parallel)
