"""What is told of servers, and what a stop leaves."""

from __future__ import annotations

import pytest

from toolorchestra.endpoint.registry import Registry
from toolorchestra.server.record import Replica, read_replicas, write_replicas
from toolorchestra.server.status import status_table
from toolorchestra.server.stop import stop


def replica(number, job_id, service="m"):
    return Replica(service=service, number=number, kind="slurm", job_id=job_id, log="l.txt")


def announce(folder, job_id, **changes):
    given = {"url": f"http://n1:{job_id}", "lifetime_s": 5.0, "host": "n1", "job_id": job_id}
    return Registry(folder).announce("m", **(given | changes))


@pytest.fixture
def servers(commands, tmp_path):
    """Five jobs: one waits, one has not registered, one loads, one serves, one has failed."""
    write_replicas(tmp_path, [replica(n, str(11 + n)) for n in range(5)])
    commands("sacct", "exit 1")
    commands(
        "squeue",
        'job=${5##*=}; case $job in 11) echo "$job|PENDING|Priority";; '
        '15) echo "$job|FAILED|None";; *) echo "$job|RUNNING|None";; esac',
    )
    announce(tmp_path, "13", is_ready=False)
    announce(tmp_path, "14")
    return tmp_path


def test_cluster_and_registry_together_say_how_each_server_fares(servers):
    announce(servers, "", url="http://n2:8")
    rows = [(row[1], *row[2:6]) for row in status_table(servers).rows]
    assert rows == [
        (0, "queued", None, None, "11"),
        (1, "starting", None, None, "12"),
        (2, "starting", "http://n1:13", "n1", "13"),
        (3, "ready", "http://n1:14", "n1", "14"),
        (4, "dead", None, None, "15"),
        (None, "ready", "http://n2:8", "n1", ""),
    ]
    notes = [row[7] for row in status_table(servers).rows]
    assert (notes[0], notes[4]) == ("Priority", "FAILED; see l.txt")


def test_a_stop_takes_jobs_and_what_they_left_and_nothing_else(servers, commands):
    announce(servers, "", url="http://n2:8")
    cancelled = commands("scancel", "exit 0")
    commands(
        "squeue",
        'job=${5##*=}; mark="$0.$job"; [ -e "$mark" ] || echo "$job|RUNNING|None"; touch "$mark"',
    )
    stop(servers, None)
    assert "11" in cancelled.read_text()
    assert read_replicas(servers) == ()
    assert [item.url for item in Registry(servers).read()] == ["http://n2:8"]


def test_a_stop_of_some_leaves_the_others(servers):
    others = read_replicas(servers)
    write_replicas(servers, [*others, replica(0, "15", service="n")])
    stop(servers, {"n"})
    assert read_replicas(servers) == others
    assert len(Registry(servers).read()) == 2
