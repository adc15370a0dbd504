"""How servers fare, by the cluster's word and the registry's."""

from __future__ import annotations

import time
from pathlib import Path

from toolorchestra.endpoint.registry import Endpoint, Registry
from toolorchestra.launch.cluster import JobState
from toolorchestra.report.table import Cell, Table
from toolorchestra.server.record import job_states, read_replicas

QUEUED, STARTING, READY, DEAD = "queued", "starting", "ready", "dead"
COLUMNS = ("service", "replica", "state", "url", "host", "job", "beat_age_s", "note")


def status_table(registry: Path) -> Table:
    """One row a server, those that were started by hand last.

    Raises:
        ConnectionError: The cluster does not answer at the moment.
    """
    replicas = read_replicas(registry)
    states = job_states(replicas)
    live = {item.job_id: item for item in Registry(registry).read() if item.job_id}
    ours = {replica.job_id for replica in replicas}
    rows = [
        _row(r.service, r.number, states[r.job_id], live.get(r.job_id), r.job_id, r.log)
        for r in replicas
    ]
    by_hand = JobState(kind="running")
    rows += [
        _row(item.service, None, by_hand, item, item.job_id, "started by hand")
        for item in Registry(registry).read()
        if item.job_id not in ours
    ]
    return Table(title=f"Servers in {registry}", columns=COLUMNS, rows=tuple(rows))


def state_of(job: JobState, endpoint: Endpoint | None) -> str:
    """One of the four words above."""
    if job.kind == "running" and endpoint is not None and endpoint.is_ready:
        return READY
    return {"queued": QUEUED, "running": STARTING, "ended": DEAD}[job.kind]


def _row(
    service: str,
    number: int | None,
    job: JobState,
    endpoint: Endpoint | None,
    job_id: str,
    note: str,
) -> tuple[Cell, ...]:
    state = state_of(job, endpoint)
    note = f"{job.detail}; see {note}" if state == DEAD else job.detail or note
    if endpoint is None or job.kind != "running":
        return service, number, state, None, None, job_id, None, note
    age_s = max(0.0, time.time() - endpoint.beat_at)
    return service, number, state, endpoint.url, endpoint.host, job_id, age_s, note
