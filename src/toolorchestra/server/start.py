"""Submits what is missing of the servers that are wanted: one job a replica."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from toolorchestra.entry.run_dir import make_run_dir
from toolorchestra.entry.snapshot import FOLDER as CODE
from toolorchestra.entry.snapshot import take_snapshot
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.server_job import ServerJob
from toolorchestra.launch.partition import check_slurm
from toolorchestra.launch.submit import submit_jobs
from toolorchestra.launch.sweep import Resources
from toolorchestra.server.choose import program_of
from toolorchestra.server.config import ServerConfig, ServiceConfig
from toolorchestra.server.record import Replica, job_states, read_replicas, write_replicas

log = logging.getLogger(__name__)

STARTS = "starts"
"""In the registry's folder: one folder a start, with code, jobs and logs."""


def start(
    registry: Path,
    server: ServerConfig,
    services: Mapping[str, ServiceConfig],
    launcher: LauncherConfig,
    *,
    source: Path,
) -> None:
    """Starts each replica that no living job keeps.

    Args:
        registry: Where the servers register.
        server: The `server` group.
        services: Those to start.
        launcher: The `launcher` group.
        source: The project, of which a copy is made.

    Raises:
        ValueError: Launcher, machine or cluster do not allow it; nothing was submitted.
    """
    if launcher.kind == "serial":
        raise ValueError(
            "launcher: serial is not allowed, as servers are jobs of their own; use "
            "launcher=slurm_h100, slurm or local"
        )
    registry = Path(os.path.abspath(registry))
    replicas = _living(registry)
    missing = _missing(services, replicas)
    batches = batches_of(services, missing, launcher)
    launchers = {gpus: _launcher_for(launcher, gpus, registry) for gpus in batches}
    dealt = iter(_deal_gpus(batches, replicas) if launcher.kind == "local" else ())
    if not missing:
        return
    folder = make_run_dir(registry / STARTS / datetime.now().strftime("%Y-%m-%d_%H-%M-%S-%f"))
    take_snapshot(source, folder)

    def job_of(name: str, number: int, gpus: int) -> ServerJob:
        return ServerJob(
            service=name,
            program=program_of(server, name),
            keeper=("--health", services[name].health, *server.keeper),
            registry=registry,
            code=folder / CODE,
            log=folder / f"{re.sub(r'[^A-Za-z0-9.]+', '-', name)}_{number}.txt",
            launcher=launchers[gpus],
            gpus=next(dealt, ()),
        )

    for gpus, wanted in batches.items():
        jobs = [job_of(name, number, gpus) for name, number in wanted]
        resources = Resources(gpus_per_node=gpus)
        job_ids = submit_jobs(folder, launchers[gpus], resources, jobs, name=registry.name)
        begun = _replicas(wanted, jobs, job_ids, kind=launcher.kind)
        replicas += begun
        write_replicas(registry, replicas)
        for replica in begun:
            log.info("%s %d: job %s", replica.service, replica.number, replica.job_id)


def _replicas(
    wanted: Sequence[tuple[str, int]],
    jobs: Sequence[ServerJob],
    job_ids: Sequence[str],
    *,
    kind: str,
) -> list[Replica]:
    return [
        Replica(
            service=name, number=number, kind=kind, job_id=job_id, log=str(job.log), gpus=job.gpus
        )
        for (name, number), job, job_id in zip(wanted, jobs, job_ids, strict=True)
    ]


def batches_of(
    services: Mapping[str, ServiceConfig],
    replicas: Sequence[tuple[str, int]],
    launcher: LauncherConfig,
) -> dict[int, list[tuple[str, int]]]:
    """Replicas by the GPUs that each takes: those of one array need the same."""
    batches: dict[int, list[tuple[str, int]]] = {}
    for name, number in replicas:
        gpus = launcher.gpus_per_node
        gpus = services[name].tensor_parallel if gpus is None else gpus
        batches.setdefault(gpus, []).append((name, number))
    return batches


def share_of(launcher: LauncherConfig, gpus: int, *, of_node: int) -> LauncherConfig:
    """The launcher of a server that takes some of a node's GPUs: their CPUs, and their memory."""
    memory, cpus = launcher.mem_gb, launcher.cpus_per_task * max(1, gpus)
    if memory is not None and gpus:
        memory = memory * gpus / of_node
    return replace(launcher, cpus_per_task=cpus, mem_gb=memory)


def _living(registry: Path) -> list[Replica]:
    replicas = read_replicas(registry)
    states = job_states(replicas)
    return [replica for replica in replicas if states[replica.job_id].kind != "ended"]


def _missing(
    services: Mapping[str, ServiceConfig], replicas: Sequence[Replica]
) -> list[tuple[str, int]]:
    there = {(replica.service, replica.number): replica.job_id for replica in replicas}
    wanted = [(name, n) for name, service in services.items() for n in range(service.replicas)]
    for name, number in wanted:
        if job_id := there.get((name, number)):
            log.info("%s %d: runs already, as job %s", name, number, job_id)
    return [replica for replica in wanted if replica not in there]


def _launcher_for(launcher: LauncherConfig, gpus: int, registry: Path) -> LauncherConfig:
    """Checked, with what servers of so many GPUs need.

    Raises:
        ValueError: No node has that.
    """
    if launcher.kind == "local":
        return launcher
    whole = share_of(launcher, gpus, of_node=max(1, gpus))
    try:
        partition = check_slurm(whole, Resources(gpus_per_node=gpus))
    except ValueError as error:
        raise ValueError(f"server of {gpus} GPUs: {error}") from error
    mounts = [*launcher.container_mounts, f"{registry}:{registry}"]
    launcher = replace(launcher, container_mounts=mounts)
    return share_of(launcher, gpus, of_node=partition.gpus_per_node)


def _deal_gpus(
    batches: Mapping[int, Sequence[tuple[str, int]]], replicas: Sequence[Replica]
) -> list[tuple[int, ...]]:
    """GPUs of this machine for each replica of all batches.

    Raises:
        ValueError: There are not enough.
    """
    taken = {gpu for replica in replicas for gpu in replica.gpus}
    free = [gpu for gpu in range(len(list(Path("/dev").glob("nvidia[0-9]*")))) if gpu not in taken]
    needed = [gpus for gpus, wanted in batches.items() for _ in wanted]
    if sum(needed) > len(free):
        raise ValueError(
            f"launcher: local is not allowed for servers of {sum(needed)} GPUs; {len(free)} are "
            "free here: choose some by only, or use launcher=slurm_h100"
        )
    return [tuple(free.pop(0) for _ in range(gpus)) for gpus in needed]
