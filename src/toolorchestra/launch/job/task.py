"""What submitit runs in every task of a point's job: it keeps one training rank going.

The training is a process of its own, from the sweep's copy of the code. It hears no signal: that it
is to stop it sees from a file, at the end of a step. The first task writes the point's journal, and
it alone has the job queued again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import submitit

from toolorchestra.entry.run_dir import RUN_FILE
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.child import Child
from toolorchestra.launch.job.first_rank import FirstRank
from toolorchestra.launch.job.journal import FOLDER
from toolorchestra.launch.job.other_rank import OtherRank
from toolorchestra.launch.job.place import Place
from toolorchestra.process import adopt_orphans


@dataclass(frozen=True, kw_only=True)
class PointJob:
    """One point of a sweep; called in each of its job's tasks."""

    run_dir: Path
    code: Path
    """The sweep's copy of the project."""
    overrides: tuple[str, ...]
    group: str
    launcher: LauncherConfig

    def __call__(self) -> None:
        """Trains, or trains on, up to the end of the point, of the attempt, or of the rank.

        Raises:
            RuntimeError: The point failed: the job's own state says so too.
            SystemExit: The job is queued again.
        """
        adopt_orphans()
        place = Place.here(self.run_dir)
        if place.rank == 0:
            FirstRank(self.run_dir, self.launcher, place, start=self._start_first).keep()
        else:
            OtherRank(self.run_dir, place, start=self._start_other).keep()

    def checkpoint(self, *_: Any) -> Any:
        """Submitit's own answer to a signal, while the job has none of its own yet."""
        return submitit.helpers.DelayedSubmission(self)

    def _start_first(self, env: dict[str, str]) -> Child:
        resume = [f"resume='{self.run_dir}'"] if (self.run_dir / RUN_FILE).exists() else []
        # an experiment may name a launcher too: here is where that has led to
        here = ("launcher=serial", "hydra.mode=RUN", f"hydra.run.dir='{self.run_dir}'")
        return self._start(["train.py", *self.overrides, *here, *resume], env, "log.txt")

    def _start_other(self, env: dict[str, str], rank: int) -> Child:
        return self._start(
            ["-m", "toolorchestra.follow", str(self.run_dir)], env, f"rank_{rank}.txt"
        )

    def _start(self, arguments: list[str], env: dict[str, str], log: str) -> Child:
        paths = {"PYTHONPATH": str(self.code / "src"), "WANDB_RUN_GROUP": self.group}
        threads = {"OMP_NUM_THREADS": str(self.launcher.cpus_per_task)}
        return Child(
            [sys.executable, "-u", *arguments],
            env={**paths, **threads, **env},
            cwd=self.code,
            log=self.run_dir / FOLDER / log,
        )
