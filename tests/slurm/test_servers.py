"""Servers as jobs of a real Slurm: started, called, killed, preempted and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import closing

import aiohttp
import psutil
import pytest
from tests.slurm.conftest import until
from tests.slurm.stand_in import ROOT
from tests.slurm.sweeps import accounting, preempting, run

from toolorchestra.endpoint.client import EndpointLost, Endpoints
from toolorchestra.endpoint.registry import Registry
from toolorchestra.server.record import read_replicas

SERVICE, BEAT_S = "stand_in", 0.5
STAND_IN = ROOT / "tests/unit/endpoint/stand_in.py"


class Servers:
    """The stand-in's replicas, as python serve.py starts them."""

    def __init__(self, folder):
        self.folder, self.registry = folder, folder / f"servers-{os.getpid()}"

    def __call__(self, *words, replicas=2):
        """What the command prints."""
        program = ["{python}", str(STAND_IN), "--host", "{host}", "--port", "{port}"]
        program += ["--folder", str(self.folder)]
        service = f"{SERVICE}: {{replicas: {replicas}, program: {json.dumps(program)}}}"
        done = subprocess.run(
            [sys.executable, "serve.py", "launcher=slurm_dev", "launcher.mem_gb=0.5"]
            + [f"registry={self.registry}", f"only=[{SERVICE}]", *words]
            + [f"server.keeper=[--beat-s, '{BEAT_S}']", f"+server.services={{{service}}}"],
            capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *, replicas=2):
        self(replicas=replicas)
        until(lambda: len(self.ready()) == replicas, patience_s=60)

    def ready(self):
        return Registry(self.registry).find(SERVICE)

    def job_ids(self):
        return [replica.job_id for replica in read_replicas(self.registry)]

    def pids(self):
        """Of all servers that were ever started."""
        return [int(line) for line in (self.folder / "pids").read_text().split()]

    def close(self):
        for job_id in self.job_ids():
            subprocess.run(["scancel", job_id], check=False)


@pytest.fixture
def servers(tmp_path):
    with closing(Servers(tmp_path)) as made:
        yield made


async def call(endpoints):
    """The job whose server answers; whoever meets one that has just died tries again, once."""
    for is_last in (False, True):
        try:
            async with (
                endpoints.using(SERVICE, deadline_s=10) as endpoint,
                aiohttp.ClientSession() as http,
                http.get(f"{endpoint.url}/health") as answer,
            ):
                assert answer.status == 200
                return endpoint.job_id
        except EndpointLost:
            if is_last:
                raise


def test_replicas_register_and_answer_and_after_a_stop_nothing_is_left(servers):
    told = servers()
    jobs = servers.job_ids()
    assert len({job_id.partition("_")[0] for job_id in jobs}) == 1, "not one array"
    assert all(f"{SERVICE} {n}: job {job_id}" in told for n, job_id in enumerate(jobs))
    until(lambda: len(servers.ready()) == 2, patience_s=60)

    async def called():
        endpoints = Endpoints(Registry(servers.registry))
        return {await call(endpoints) for _ in range(30)}

    assert asyncio.run(called()) == set(jobs)
    assert f"{SERVICE} 1: runs already, as job {jobs[1]}" in servers()
    assert servers.job_ids() == jobs
    table = servers("action=status")
    assert table.count("ready") == 2 and all(job_id in table for job_id in jobs)

    assert "stopped 2 servers" in servers("action=stop")
    assert Registry(servers.registry).read() == () and servers.job_ids() == []
    assert not any(map(psutil.pid_exists, servers.pids()))
    assert run("squeue", "--noheader", f"--jobs={jobs[0].partition('_')[0]}") == ""


@pytest.mark.parametrize("how", ["cancelled", "killed"])
def test_a_replica_that_dies_is_noticed_and_calls_go_to_the_other(servers, how):
    servers.start()
    first, second = servers.job_ids()

    async def end_first():
        endpoints, watcher = Endpoints(Registry(servers.registry)), Registry(servers.registry)
        assert {await call(endpoints) for _ in range(30)} == {first, second}
        (keeper,) = [item.pid for item in watcher.find(SERVICE) if item.job_id == first]
        if how == "cancelled":
            await asyncio.to_thread(run, "scancel", first)
        else:
            for process in (psutil.Process(keeper).parent(), psutil.Process(keeper)):
                process.kill()
        ended_at = time.monotonic()
        while len(watcher.find(SERVICE)) == 2:
            await asyncio.sleep(0.05)
        noticed_s = time.monotonic() - ended_at
        assert {await call(endpoints) for _ in range(30)} == {second}
        return noticed_s

    noticed_s = asyncio.run(end_first())
    assert noticed_s < (5 if how == "cancelled" else 3 * BEAT_S + 0.5)
    until(lambda: sum(map(psutil.pid_exists, servers.pids())) == 1, patience_s=20)
    end = "CANCELLED" if how == "cancelled" else "FAILED"
    until(lambda: end in accounting(first), patience_s=20)
    until(lambda: servers("action=status").count("dead") == 1, patience_s=20)
    servers()
    again, other = sorted(servers.job_ids(), key=lambda job_id: job_id == second)
    assert (again != first, other) == (True, second)


def test_a_preempted_server_leaves_the_list_and_comes_back_as_the_same_job(servers):
    servers.start(replicas=1)
    (before,) = servers.ready()
    with preempting("--nodes=1", f"--nodelist={before.host}"):
        until(lambda: not psutil.pid_exists(servers.pids()[0]))
        until(lambda: servers.ready() == [])
    until(lambda: len(servers.ready()) == 1)
    (after,) = servers.ready()
    assert after.job_id == before.job_id and after.id != before.id
    assert len(servers.job_ids()) == 1, "two owners queued it"
