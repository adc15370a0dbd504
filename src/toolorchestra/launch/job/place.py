"""Which task of which attempt of a job this process is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import submitit

from toolorchestra.launch.job.journal import CRASHED, PREEMPTED, TIMED_OUT, Journal


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A task of a job, one a training rank."""

    job_id: str
    attempt: str
    """The job's id and how often it has been started before; alike for all tasks of an attempt."""
    rank: int
    local_rank: int
    node: int
    num_ranks: int
    host: str
    """Name of the node, by which the others reach it."""

    @classmethod
    def here(cls, run_dir: Path) -> Place:
        """Of this process, which submitit has started for the point that writes to `run_dir`."""
        job = submitit.JobEnvironment()
        return cls(
            job_id=job.job_id,
            attempt=f"{job.job_id}#{_num_restarts(job, run_dir)}",
            rank=job.global_rank,
            local_rank=job.local_rank,
            node=job.node,
            num_ranks=job.num_tasks,
            host=os.environ.get("SLURMD_NODENAME") or "127.0.0.1",
        )

    def environment(self, address: str, port: int) -> dict[str, str]:
        """What tells a rank of several where it stands and where the first one listens."""
        if self.num_ranks == 1:
            return {}
        return {
            "MASTER_ADDR": address,
            "MASTER_PORT": str(port),
            "WORLD_SIZE": str(self.num_ranks),
            "NODE_RANK": str(self.node),
            "LOCAL_RANK": str(self.local_rank),
        }


def _num_restarts(job: submitit.JobEnvironment, run_dir: Path) -> int:
    """How often a job was started before. Slurm counts; submitit, on one machine, does not."""
    if job.name() == "slurm":
        return int(os.environ.get("SLURM_RESTART_COUNT", "0"))
    again = (PREEMPTED, TIMED_OUT, CRASHED)
    events = Journal(run_dir).read()
    return sum(event.job_id == job.job_id and event.kind in again for event in events)
