"""Options of the `launcher` group: where a sweep's points run, and what each of them is given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

KINDS = ("serial", "local", "slurm")
GRES = re.compile(r"gpu(:[\w.-]+)?")
_OURS = ("array", "output", "error", "signal", "requeue", "no-requeue", "nodes", "ntasks-per-node")
"""What extra lines for sbatch must leave alone: the launcher counts on it."""


@dataclass(kw_only=True)
class LauncherConfig:
    """Runs of one command: here one after the other, or as jobs of submitit."""

    name: str = "serial"
    kind: str = "serial"
    """"serial": in this process; "local": processes on this machine; "slurm": one job array."""
    detach: bool = False
    """Whether the command ends once all is submitted; python -m toolorchestra.launch goes on."""
    max_parallel: int = 32
    """Points that run at once."""
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    time_min: int = 1440
    """Longest that a job may take before it is stopped, queued again, and goes on."""
    signal_s: int = 300
    """Seconds before that end at which a job hears of it; a step and a checkpoint must fit."""
    stop_within_s: int = 240
    """Longest that a job which is to stop waits for the end of its step before it breaks it off."""
    max_idle_restarts: int = 3
    """Times in a row that a point which crashed or ran out of time without a new checkpoint is
    started again. Being preempted does not count."""
    cpus_per_task: int = 1
    """Of each training rank; its workers and tools share them."""
    mem_gb: float | None = None
    """Memory of each node; null: the partition's own default."""
    gres: str = "gpu"
    """What Slurm calls a GPU: gpu, or gpu:h100."""
    gpus_per_node: int | None = None
    """null: as many as training ranks and vLLM workers need on one node, none on CPUs."""
    container_image: str | None = None
    """Runs each task in it, by Slurm's pyxis plugin; the folders of project and sweep are seen."""
    container_mounts: list[str] = field(default_factory=list)
    """More of them, as SOURCE:TARGET."""
    python: str | None = None
    """The interpreter on the nodes, e.g. one in the container; null: the one that submits."""
    setup: list[str] = field(default_factory=list)
    """Shell lines before each task, e.g. module load cuda."""
    sbatch: dict[str, Any] = field(default_factory=dict)
    """More options of sbatch by their long names, e.g. {mail-type: END}."""
    srun_args: list[str] = field(default_factory=list)
    """More arguments of srun."""
    poll_s: float = 5.0
    """Seconds between two looks at the jobs."""

    def __post_init__(self) -> None:
        """Checks ranges.

        Raises:
            ValueError: Names the key, its value and what is allowed.
        """
        self._require("kind", self.kind in KINDS, " or ".join(KINDS))
        for key in ("max_parallel", "time_min", "cpus_per_task"):
            self._require(key, getattr(self, key) >= 1, "a whole number from 1")
        for key in ("signal_s", "stop_within_s", "max_idle_restarts"):
            self._require(key, getattr(self, key) >= 0, "a whole number from 0")
        self._require("poll_s", 0 < self.poll_s <= 3600, "seconds above 0, at most 3600")
        self._require("mem_gb", self.mem_gb is None or self.mem_gb > 0, "a number above 0, or null")
        gpus = self.gpus_per_node
        self._require("gpus_per_node", gpus is None or gpus >= 0, "a whole number from 0, or null")
        self._require("gres", GRES.fullmatch(self.gres) is not None, "gpu, or gpu:<type>")
        room = 60 * self.time_min
        self._require("signal_s", self.signal_s < room, f"less than the {room} s of time_min")
        taken = sorted(key for key in self.sbatch if key.replace("_", "-") in _OURS)
        self._require("sbatch", not taken, f"it without {', '.join(taken)}")
        if self.detach:
            self._require("detach", self.kind != "serial", "false, or launcher=local or slurm")

    def _require(self, key: str, is_met: bool, allowed: str) -> None:
        if not is_met:
            value = getattr(self, key)
            raise ValueError(f"launcher.{key}: {value!r} is not allowed; use {allowed}")
