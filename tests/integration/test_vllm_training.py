"""Training with a real vLLM worker: it survives its worker, and its worker does not survive it."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest
from tests.integration.command import Command, run_dirs

from toolorchestra.report.metrics import read_metrics

pytestmark = pytest.mark.vllm

STEPS, GROUPS = 5, 4
SMALL = (
    "rollout=vllm", "rollout.vllm.kv_cache_gib=0.25", f"trainer.max_steps={STEPS}",
    f"trainer.episodes_per_step={GROUPS}", "trainer.checkpoint_every=1", "trainer.num_threads=1",
    "algorithm.homogeneity_std=0", "benchmark=none", "logger=none",
)  # fmt: skip
PATIENCE_S = 180.0


def wait_for(find, what):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := find()):
        assert time.monotonic() < deadline, f"no {what} in {PATIENCE_S:g} s"
        time.sleep(0.1)
    return found


def servers(folder):
    """The vLLM servers that were started with weights below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if "api_server" in line and str(folder) in line and "setpriv" not in line:
            found += [process] if process.info["status"] != psutil.STATUS_ZOMBIE else []
    return found


def steps_done(folder):
    files = [path / "metrics.csv" for path in run_dirs(folder)]
    return len(read_metrics(files[0])) if files and files[0].exists() else 0


def family(server):
    return [server, *server.children(recursive=True)]


def living(processes):
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_a_run_that_samples_ahead_outlives_kills_of_its_worker_and_loses_no_group(tmp_path):
    command = Command(tmp_path, *SMALL, "rollout.max_staleness=1")
    killed = []
    for step in (1, 3):
        wait_for(lambda step=step: steps_done(tmp_path) >= step, f"step {step}")
        (server,) = wait_for(lambda: servers(tmp_path), "server")
        killed += family(server)
        os.kill(server.pid, signal.SIGKILL)
        wait_for(lambda server=server: not living([server]), "end of the server")
    done = command.wait()
    assert done.status == 0, done.err
    rows = read_metrics(run_dirs(tmp_path)[0] / "metrics.csv")
    assert len(rows) == STEPS
    for row in rows:
        assert row["drops/num_groups"] == GROUPS
        assert row["drops/num_rollouts"] == 8 * GROUPS
        assert row["drops/num_unscored"] == 0
        assert 0 <= row["pool/staleness"] <= 1
        assert row["update/logprob_gap_abs"] < 0.1
    assert max(row["pool/staleness"] for row in rows) > 0, "nothing was sampled ahead"
    assert rows[-1]["engine/num_restarts"] == 2
    assert all(row["engine/logprob_gap"] < 1e-4 for row in rows)
    assert not living(killed), "a killed server left its children behind"
    assert not servers(tmp_path)
    assert not list(tmp_path.rglob("weights")), "weights were left behind"


def test_no_server_outlives_a_run_that_is_killed_and_the_run_can_go_on(tmp_path):
    command = Command(tmp_path, *SMALL)
    wait_for(lambda: steps_done(tmp_path) >= 2, "step 2")
    (server,) = servers(tmp_path)
    processes = family(server)
    assert len(processes) >= 2
    os.kill(command.process.pid, signal.SIGKILL)
    wait_for(lambda: not living(processes), "end of the server")
    done = Command(tmp_path, *SMALL, "resume=auto").wait()
    assert done.status == 0, done.err
    assert "resuming" in done.out
    rows = read_metrics(run_dirs(tmp_path)[0] / "metrics.csv")
    assert [row["step"] for row in rows] == list(range(STEPS))
    assert not servers(tmp_path)
