"""Ends servers: their jobs are cancelled, and nothing of them stays on the list."""

from __future__ import annotations

import logging
import time
from collections.abc import Container
from pathlib import Path

from toolorchestra.endpoint.registry import Registry
from toolorchestra.launch.cluster import cluster_of
from toolorchestra.server.record import job_states, read_replicas, write_replicas

log = logging.getLogger(__name__)

LOOK_S = 0.5
PATIENCE_S = 180.0
"""How long a cluster may take to end jobs: Slurm kills those after half a minute that are deaf."""


def stop(registry: Path, services: Container[str] | None) -> None:
    """Cancels jobs, and returns when they are gone.

    Args:
        registry: Where the servers are registered.
        services: Whose servers to stop; None: all.

    Raises:
        ValueError: They did not end in time.
        ConnectionError: The cluster does not answer at the moment.
    """
    replicas = read_replicas(registry)
    ending = [r for r in replicas if services is None or r.service in services]
    states = job_states(ending)
    for kind in sorted({replica.kind for replica in ending}):
        ours = [r.job_id for r in ending if r.kind == kind]
        cluster_of(kind).cancel([job_id for job_id in ours if states[job_id].kind != "ended"])
    deadline = time.monotonic() + PATIENCE_S
    while left := [j for j, state in job_states(ending).items() if state.kind != "ended"]:
        if time.monotonic() > deadline:
            raise ValueError(f"the jobs {', '.join(left)} do not end; ask Slurm: scontrol show job")
        time.sleep(LOOK_S)
    view, gone = Registry(registry), {replica.job_id for replica in ending}
    for endpoint in view.read():
        if endpoint.job_id in gone:  # its keeper was killed before it could
            view.withdraw(endpoint)
    write_replicas(registry, [replica for replica in replicas if replica not in ending])
    log.info("stopped %d servers", len(ending))
    if services is None and (others := view.read()):
        log.info("left: %s", ", ".join(f"{item.service} at {item.url}" for item in others))
