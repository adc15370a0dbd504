"""What submitit runs as the job of a server: it keeps the keeper going that keeps the server.

The keeper registers the server, starts it anew when it dies, and takes it off the list at the end.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import submitit

from toolorchestra.entry.stop import Signals
from toolorchestra.launch.cluster import is_ending, queue_again
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.child import Child
from toolorchestra.process import adopt_orphans

LOOK_S = 0.2
HEARD_S = 1.0
"""The keeper hears a cluster's signals too, and may have ended before this process hears them."""


@dataclass(frozen=True, kw_only=True)
class ServerJob:
    """One replica of a service."""

    service: str
    program: tuple[str, ...]
    """The server's command; {python} stands for this job's interpreter."""
    keeper: tuple[str, ...]
    """More options of the keeper."""
    registry: Path
    code: Path
    """A copy of the project."""
    log: Path
    launcher: LauncherConfig
    gpus: tuple[int, ...] = ()
    """Which ones to use, where no cluster chooses."""

    def __call__(self) -> None:
        """Serves until a signal comes, or the keeper gives up.

        Raises:
            RuntimeError: It gave up: the job's own state says so too.
            SystemExit: The job is queued again.
        """
        adopt_orphans()
        job_id = submitit.JobEnvironment().job_id
        with Signals() as signals:
            child = Child(
                self.command(job_id), env=self._environment(), cwd=self.code, log=self.log
            )
            try:
                status = self._watch(child, signals)
            finally:
                child.kill()
            if signals.heard:
                if not is_ending(self.launcher.kind, job_id):
                    queue_again()
            elif status:
                raise RuntimeError(f"{child.last_words()} (see {child.log})")

    def checkpoint(self, *_: Any) -> Any:
        """Submitit's own answer to a signal, while the job has none of its own yet."""
        return submitit.helpers.DelayedSubmission(self)

    def command(self, job_id: str) -> list[str]:
        """The keeper's."""
        return [
            *(sys.executable, "-u", "-m", "toolorchestra.endpoint.keeper"),
            *("--service", self.service, "--registry", str(self.registry), "--job-id", job_id),
            *(*self.keeper, "--"),
            *(word.replace("{python}", sys.executable) for word in self.program),
        ]

    def _environment(self) -> dict[str, str]:
        gpus = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, self.gpus))} if self.gpus else {}
        return {"PYTHONPATH": str(self.code / "src"), **gpus}

    def _watch(self, child: Child, signals: Signals) -> int | None:
        """Waits for the keeper's end, which is asked for once a signal comes; None: it is deaf."""
        while (status := child.status()) is None and not signals.heard:
            time.sleep(LOOK_S)
        if status == 0:
            time.sleep(HEARD_S)
        if status is None:
            child.ask_to_end()
            deadline = time.monotonic() + self.launcher.stop_within_s
            while (status := child.status()) is None and time.monotonic() < deadline:
                time.sleep(LOOK_S)
        return status
