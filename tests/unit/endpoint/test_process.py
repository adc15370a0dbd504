"""A server's process ends with all that it started, and leaves nothing of ours behind."""

from __future__ import annotations

import time

import pytest
from tests.unit.endpoint.scene import is_alive, until, warden_of

from toolorchestra.endpoint.process import ServerProcess


@pytest.fixture
def start(tmp_path):
    """`start("exit 3")`: a server that is a shell script; what it writes to "pid" is waited for."""
    started = []

    def run(script, *, end_s=5.0):
        command = ["sh", "-c", f"cd {tmp_path}; {script}"]
        started.append(ServerProcess(command, end_s=end_s))
        return started[-1]

    yield run
    for process in started:
        process.end()


async def test_how_a_server_ended_is_told(start):
    failed, killed = start("exit 3"), start("kill -KILL $$")
    await until(lambda: not failed.is_running() and not killed.is_running())
    assert failed.how_it_ended() == "ended with status 3"
    assert killed.how_it_ended() == "was killed by SIGKILL"


async def test_a_child_that_outlives_its_server_is_ended_too(start, tmp_path):
    process = start("sleep 600 & echo $! > new; mv new pid")
    await until(lambda: (tmp_path / "pid").exists() and not process.is_running())
    child = int((tmp_path / "pid").read_text())
    assert is_alive(child)
    process.end()
    assert not is_alive(child)
    process.end()  # again, when nothing is left


async def test_a_server_that_ends_when_asked_is_not_waited_for(start, tmp_path):
    process = start("trap 'touch asked; exit' TERM; touch pid; while :; do sleep 0.01; done")
    await until((tmp_path / "pid").exists)
    began = time.monotonic()
    process.end()
    assert time.monotonic() - began < 4.0
    assert (tmp_path / "asked").exists()


async def test_a_server_that_does_not_listen_is_killed_and_its_warden_goes(start, tmp_path):
    process = start("trap '' TERM; touch pid; while :; do sleep 1; done", end_s=0.2)
    await until((tmp_path / "pid").exists)
    assert warden_of(process.pid)
    process.end()
    assert process.how_it_ended() == "was killed by SIGKILL"
    assert not warden_of(process.pid)
