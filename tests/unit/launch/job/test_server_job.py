"""A server's job: what it runs, how it ends, and whether it is queued again."""

from __future__ import annotations

import pickle
import signal
import sys
import threading
from pathlib import Path

import pytest
from tests.unit.launch.attempts import AGAIN, LOCAL
from tests.unit.launch.scene import in_a_task, is_alive, until

from toolorchestra.endpoint.registry import Registry
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job import server_job as module
from toolorchestra.launch.job.server_job import ServerJob

ROOT = Path(__file__).parents[4]
STAND_IN = str(ROOT / "tests/unit/endpoint/stand_in.py")


@pytest.fixture(autouse=True)
def as_a_job(monkeypatch):
    for key, value in LOCAL.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(module, "HEARD_S", 0.1)


def job_of(folder, **changes):
    given = {
        "service": "m",
        "program": ("{python}", STAND_IN, "--host", "{host}", "--port", "{port}",
                    "--folder", str(folder)),
        "keeper": ("--beat-s", "0.1", "--max-restarts", "0", "--bind", "127.0.0.1"),
        "registry": folder / "servers",
        "code": ROOT,
        "log": folder / "log.txt",
        "launcher": LauncherConfig(kind="local", stop_within_s=10),
    }  # fmt: skip
    return ServerJob(**(given | changes))


def find(folder):
    return Registry(folder / "servers").find("m")


def test_the_keeper_is_told_of_job_and_service_and_the_program_of_its_interpreter(tmp_path):
    job = job_of(tmp_path, program=("{python}", "s", "{port}"), keeper=("--end-s", "3"))
    assert pickle.loads(pickle.dumps(job)) == job
    assert job.command("7_1") == [
        *(sys.executable, "-u", "-m", "toolorchestra.endpoint.keeper"),
        *("--service", "m", "--registry", str(tmp_path / "servers"), "--job-id", "7_1"),
        *("--end-s", "3", "--", sys.executable, "s", "{port}"),
    ]


def test_a_signalled_job_withdraws_its_server_ends_it_and_is_queued_again(tmp_path):
    found = []

    def signalled():
        import os

        def end_when_ready():
            until(lambda: find(tmp_path))
            (tmp_path / "job").write_text(find(tmp_path)[0].job_id)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=end_when_ready).start()
        job_of(tmp_path)()

    with pytest.raises(SystemExit) as ended:
        in_a_task(signalled)
    assert ended.value.code == AGAIN
    assert (tmp_path / "job").read_text() == "7"
    assert find(tmp_path) == found == []
    assert not any(is_alive(int(line)) for line in (tmp_path / "pids").read_text().split())


def test_a_job_that_the_cluster_ends_is_not_queued_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "is_ending", lambda kind, job_id: True)
    job = job_of(tmp_path, program=("sh", "-c", "kill -TERM $(ps -o ppid= $PPID); sleep 9 {port}"))
    assert in_a_task(job) is None


def test_a_keeper_that_gives_up_fails_the_job_with_its_last_words(tmp_path):
    with pytest.raises(RuntimeError) as caught:
        in_a_task(job_of(tmp_path, program=("sh", "-c", "exit 3 {port}")))
    told = str(caught.value)
    assert "the server of m failed 1 times in a row; it last ended with status 3" in told
    assert told.endswith(f"(see {tmp_path}/log.txt)")


def test_only_a_job_that_no_cluster_gives_gpus_chooses_them(tmp_path):
    tell = ("sh", "-c", "echo gpus=$CUDA_VISIBLE_DEVICES; exit 3 {port}")
    for gpus, told in (((2, 3), "gpus=2,3"), ((), "gpus=5")):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(RuntimeError):
            patch.setenv("CUDA_VISIBLE_DEVICES", "5")
            in_a_task(job_of(tmp_path, program=tell, gpus=gpus, log=tmp_path / f"{told}.txt"))
        assert told in (tmp_path / f"{told}.txt").read_text().splitlines()
