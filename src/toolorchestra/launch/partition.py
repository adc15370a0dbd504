"""Whether Slurm could run a job at all: asked before anything is submitted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolorchestra.launch.cluster import ask
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.sweep import Resources


@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """What one partition offers."""

    name: str
    is_default: bool
    num_nodes: int
    cpus_per_node: int
    mem_mb_per_node: int
    gpus_per_node: int
    """Of the node that has most."""
    time_min: float
    """Longest time of a job; infinite where there is no limit."""


def check_slurm(options: LauncherConfig, resources: Resources) -> Partition:
    """Checks what is asked for against what the partition offers, and returns that.

    Raises:
        ValueError: Says which option to change.
    """
    try:
        lines = ask(["sinfo", "--noheader", "--exact", "--format=%P|%D|%c|%m|%G|%l"]).splitlines()
    except ConnectionError as error:
        raise ValueError(
            f"launcher: Slurm does not answer ({error}); wait, or use launcher=local"
        ) from error
    return check_partition(read_partitions(lines, options.gres), options, resources)


def read_partitions(lines: list[str], gres: str) -> list[Partition]:
    """The partitions, from what sinfo prints; nodes that differ come on lines of their own."""
    found: dict[str, Partition] = {}
    for line in lines:
        name, nodes, cpus, memory, devices, limit = line.strip().split("|")
        known = found.get(name.rstrip("*"))
        found[name.rstrip("*")] = Partition(
            name=name.rstrip("*"),
            is_default=name.endswith("*"),
            num_nodes=int(nodes) + (known.num_nodes if known else 0),
            cpus_per_node=max(_number(cpus), known.cpus_per_node if known else 0),
            mem_mb_per_node=max(_number(memory), known.mem_mb_per_node if known else 0),
            gpus_per_node=max(_count(devices, gres), known.gpus_per_node if known else 0),
            time_min=_minutes(limit),
        )
    return list(found.values())


def check_partition(
    partitions: list[Partition], options: LauncherConfig, resources: Resources
) -> Partition:
    """Checks a job's resources, and returns the partition that has them.

    Raises:
        ValueError: Says which option to change.
    """
    wanted = options.partition
    names = ", ".join(partition.name for partition in partitions)
    chosen = [p for p in partitions if (p.name == wanted if wanted else p.is_default)]
    if not chosen:
        value = f"{wanted!r} is not allowed" if wanted else "there is no default here"
        raise ValueError(f"launcher.partition: {value}; use {names}")
    has = chosen[0]
    where = f"partition {has.name}"
    cpus = resources.tasks_per_node * options.cpus_per_task
    memory = 0 if options.mem_gb is None else int(1024 * options.mem_gb)
    _require(
        "trainer.num_nodes", resources.num_nodes, has.num_nodes, f"{where} has that many nodes"
    )
    _require(
        "launcher.gpus_per_node", resources.gpus_per_node, has.gpus_per_node,
        f"the largest node of {where} has that many of {options.gres}, and training ranks "
        "(trainer.devices) and vLLM workers share them",
    )  # fmt: skip
    _require(
        "launcher.cpus_per_task", cpus, has.cpus_per_node,
        f"for {resources.tasks_per_node} tasks a node of {where} has that many",
    )  # fmt: skip
    _require("launcher.mem_gb, in MB", memory, has.mem_mb_per_node, f"nodes of {where} have that")
    _require("launcher.time_min", options.time_min, has.time_min, f"{where} allows no more")
    return has


def _require(key: str, wanted: float, limit: float, why: str) -> None:
    if wanted > limit:
        raise ValueError(f"{key}: {wanted:g} is not allowed; use at most {limit:g}: {why}")


def _number(text: str) -> int:
    return int(re.match(r"\d+", text)[0])  # type: ignore[index]


def _count(devices: str, gres: str) -> int:
    """GPUs among a node's devices, e.g. of "gpu:h100:8(S:0-1),fs:1"."""
    count = 0
    for device in devices.split(","):
        name, _, number = re.sub(r"\(.*", "", device).rpartition(":")
        if number.isdigit() and (name == gres or name.startswith(f"{gres}:")):
            count += int(number)
    return count


def _minutes(limit: str) -> float:
    """Slurm's [days-]hours:minutes:seconds."""
    if limit in ("infinite", "n/a"):
        return float("inf")
    days, _, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    while len(parts) < 3:
        parts.insert(0, 0)
    return 1440 * int(days or 0) + 60 * parts[0] + parts[1] + parts[2] / 60
