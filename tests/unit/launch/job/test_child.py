"""A rank's process: what it is started with, what it hears, how it ends, and what it said last."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys

import pytest
from tests.unit.launch.scene import in_a_task, is_alive, until

from toolorchestra.launch.job.child import Child
from toolorchestra.process import adopt_orphans, hearing


@pytest.fixture
def start(tmp_path):
    """`start("exit 3")`: a child that is a shell script, at work in a folder of its own."""

    def run(script, **env):
        (tmp_path / "code").mkdir(exist_ok=True)
        log = tmp_path / "job" / "log.txt"
        return Child(["sh", "-c", script], env=env, cwd=tmp_path / "code", log=log)

    return run


def status_of(child):
    until(lambda: child.status() is not None)
    return child.status()


def words(start, script):
    child = start(script)
    status_of(child)
    return child.last_words()


def test_a_child_has_its_folder_its_variables_and_those_of_the_job_and_adds_to_its_log(
    start, tmp_path, monkeypatch
):
    monkeypatch.setenv("OF_THE_JOB", "kept")
    monkeypatch.setenv("CHANGED", "before")
    for rank in (0, 1):
        child = start('echo "$RANK $OF_THE_JOB $CHANGED"; pwd >&2', RANK=str(rank), CHANGED="after")
        assert status_of(child) == 0
    log = (tmp_path / "job/log.txt").read_text()
    assert log == f"0 kept after\n{tmp_path}/code\n1 kept after\n{tmp_path}/code\n"


def test_a_childs_status_is_none_then_its_own_or_that_of_the_signal(start, tmp_path):
    child = start("until [ -e go ]; do sleep 0.01; done; exit 3")
    assert child.status() is None
    (tmp_path / "code/go").touch()
    assert status_of(child) == 3
    assert status_of(start("kill -KILL $$")) == -9


@pytest.mark.parametrize("name", ["TERM", "USR2"])
def test_a_child_hears_no_stop_signal(start, tmp_path, name):
    child = start(f"kill -{name} $$; echo here; exit 5")
    assert status_of(child) == 5
    assert (tmp_path / "job/log.txt").read_text() == "here\n"


def test_a_child_that_is_asked_to_end_does_so_only_if_it_listens(start):
    def run():
        began = "echo began; exec sleep 60"
        deaf, listening = start(began), start(f"exec {shlex.join(hearing())} sh -c '{began}'")
        for child in (deaf, listening):
            until(lambda child=child: child.last_words() == "began")
            child.ask_to_end()
        status = status_of(listening)
        return deaf.status(), status

    assert in_a_task(run) == (None, -signal.SIGTERM)


def test_a_signal_to_the_jobs_whole_group_does_not_reach_a_child(start):
    child = start("exec sleep 60")
    try:
        assert os.getpgid(child._process.pid) == child._process.pid != os.getpgid(0)
    finally:
        os.killpg(child._process.pid, signal.SIGKILL)
        status_of(child)


def test_a_child_is_killed_at_once_with_its_children_and_orphans(start, tmp_path):
    def run():
        adopt_orphans()
        child = start(
            "trap '' TERM; sleep 60 & echo $! > a; (setsid sleep 60 & echo $! > b); touch c; wait"
        )
        until((tmp_path / "code/c").exists)
        pids = [child._process.pid, *(int((tmp_path / "code" / n).read_text()) for n in "ab")]
        were_alive = [is_alive(pid) for pid in pids]
        child.kill()
        child.kill()  # again, when nothing is left
        return were_alive, [is_alive(pid) for pid in pids], child.status()

    assert in_a_task(run) == ([True] * 3, [False] * 3, -9)


def test_a_child_dies_when_its_parent_is_killed(tmp_path):
    program = f"""
import pathlib, time
from toolorchestra.launch.job.child import Child
here = pathlib.Path({str(tmp_path)!r})
child = Child(["sh", "-c", "echo $$; exec sleep 60"], env={{}}, cwd=here, log=here / "log")
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", program])
    log = tmp_path / "log"
    until(lambda: log.exists() and log.read_text().endswith("\n"))
    pid = int(log.read_text())
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    until(lambda: not is_alive(pid))


@pytest.mark.parametrize(
    ("script", "last"),
    [
        ("echo one; echo two; echo; echo ' '", "two"),
        ("echo 'error: no disk'; echo 'error: no room'; echo bye", "error: no room"),
        ("echo 'Traceback'; echo '  error: at the margin'; echo bye", "error: at the margin"),
        ("echo 'an error: in passing'; echo bye", "bye"),
        ("echo 'error: on standard error' >&2; echo bye", "error: on standard error"),
        ("printf 'error: caf\\351'", "error: caf\N{REPLACEMENT CHARACTER}"),
        ("printf 'a line that is cut'", "a line that is cut"),
        ("exit 1", "it said nothing"),
    ],
)
def test_of_all_that_a_child_said_the_last_error_counts_or_else_the_last_line(start, script, last):
    assert words(start, script) == last


def test_what_an_earlier_child_said_in_the_same_log_is_not_taken_for_its_own(start):
    assert words(start, "echo 'error: of the first'") == "error: of the first"
    assert words(start, "echo all is well") == "all is well"
    assert words(start, "exit 1") == "it said nothing"


def test_a_very_long_line_is_cut(start):
    assert words(start, "printf 'error: %01000d' 0") == "error: " + 493 * "0"
