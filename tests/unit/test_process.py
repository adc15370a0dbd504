"""Processes that others start: which signals they hear, and with whom they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit.launch.scene import in_a_task, is_alive, until

from toolorchestra import process as module
from toolorchestra.process import (
    STOP_SIGNALS,
    adopt_orphans,
    dies_with_parent,
    end_descendants,
    end_group,
    free_port,
    group_lives,
    hearing,
    shielding,
)

NAMES = ("TERM", "USR2")


def shell(script, *, before=()):
    return subprocess.Popen(
        [*before, "sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True
    )


def told_by(process):
    with process:
        return process.stdout.read().decode()


@pytest.fixture
def pid_in(tmp_path):
    """`pid_in("a")`: the process that a script has written to this file, once it sleeps."""

    def read(name):
        path = tmp_path / name
        until(lambda: path.exists() and path.read_text().endswith("\n"))
        pid = int(path.read_text())
        until(lambda: Path(f"/proc/{pid}/cmdline").read_text().startswith("sleep"))
        return pid

    return read


def test_a_free_port_is_one_that_can_be_listened_on():
    with socket.socket() as listener:
        listener.bind(("", free_port()))
        listener.listen()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_started_shielded_hears_no_stop_signal_nor_does_its_child(name):
    # not by way of sh: Debian's dash clears the mask of what it starts
    child = f"import os, signal; os.kill(os.getpid(), signal.SIG{name}); print('child')"
    program = (
        f"import os, signal, subprocess, sys; os.kill(os.getpid(), signal.SIG{name}); "
        "print('self', flush=True); sys.exit(subprocess.call([sys.executable, '-S', '-c', "
        f"{child!r}]))"
    )
    with shielding():
        process = subprocess.Popen([sys.executable, "-S", "-c", program], stdout=subprocess.PIPE)
    assert told_by(process) == "self\nchild\n"
    assert process.returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_what_is_started_without_a_shield_would_have_ended(name):
    process = shell(f"kill -{name} $$; echo self")
    assert told_by(process) == ""
    assert process.returncode == -getattr(signal, f"SIG{name}")


def test_a_shielded_process_still_hears_ctrl_c_and_can_be_killed():
    for name, number in (("INT", 2), ("KILL", 9)):
        with shielding():
            process = shell(f"kill -{name} $$; echo self")
        assert told_by(process) == ""
        assert process.returncode == -number


def test_who_shields_others_hears_again_afterwards():
    def mask():
        return signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert not set(STOP_SIGNALS) & mask()
    with pytest.raises(KeyError), shielding():
        assert set(STOP_SIGNALS) <= mask()
        raise KeyError("x")
    assert not set(STOP_SIGNALS) & mask()


@pytest.mark.parametrize("name", NAMES)
def test_below_a_shield_a_command_can_be_made_to_hear_again(name):
    with shielding():
        process = shell(f"echo began; kill -{name} $$; echo deaf", before=hearing())
    assert told_by(process) == "began\n"
    assert process.returncode == -getattr(signal, f"SIG{name}")


def test_a_command_that_hears_is_the_very_process_that_was_started():
    process = shell("echo $$", before=hearing())
    assert told_by(process) == f"{process.pid}\n"


def test_a_process_ends_when_its_parent_is_killed():
    if not dies_with_parent("KILL"):
        pytest.skip("no setpriv here")
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([*sys.argv[1:], 'sleep', '60'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-S", "-c", program, *dies_with_parent("KILL")], stdout=subprocess.PIPE
    )
    with parent:
        child = int(parent.stdout.readline())
        until(lambda: Path(f"/proc/{child}/cmdline").read_text().startswith("sleep"))
        parent.kill()
    until(lambda: not is_alive(child))


def test_without_setpriv_a_command_is_started_as_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert dies_with_parent("KILL") == []


def test_a_group_that_ends_when_asked_is_asked_once(tmp_path, pid_in):
    process = shell(f"trap 'touch {tmp_path}/asked; exit 3' TERM; sleep 60 & echo $! > {tmp_path}/a"
                    "; wait")  # fmt: skip
    child = pid_in("a")
    began = time.monotonic()
    end_group(process, signal.SIGTERM, signal.SIGKILL, patience_s=10)
    assert time.monotonic() - began < 5
    assert process.returncode == 3 and (tmp_path / "asked").exists()
    assert not is_alive(child)


def test_a_group_that_ignores_being_asked_is_killed_with_its_children(tmp_path, pid_in):
    process = shell(f"trap '' TERM; sleep 60 & echo $! > {tmp_path}/a; wait; sleep 60")
    child = pid_in("a")
    end_group(process, signal.SIGTERM, signal.SIGKILL, patience_s=0.2)
    assert process.returncode == -signal.SIGKILL
    assert not is_alive(child) and not group_lives(process.pid)


def test_the_status_of_a_leader_that_ends_between_two_looks_is_taken_too(monkeypatch):
    def late(group):
        until(lambda: not is_alive(group))
        return group_lives(group)

    monkeypatch.setattr(module, "group_lives", late)
    process = shell("exec sleep 60")
    end_group(process, signal.SIGKILL, patience_s=10)
    assert process.returncode == -signal.SIGKILL


def test_a_group_outlives_the_process_that_led_it_until_it_is_ended(tmp_path, pid_in):
    process = shell(f"sleep 60 & echo $! > {tmp_path}/a")
    child = pid_in("a")
    process.wait()
    assert group_lives(process.pid) and is_alive(child)
    end_group(process, signal.SIGKILL, patience_s=10)
    assert not group_lives(process.pid) and not is_alive(child)
    end_group(process, signal.SIGKILL, patience_s=10)  # again, when nothing is left


def test_orphans_in_sessions_of_their_own_are_ended_with_whoever_has_adopted_them(tmp_path, pid_in):
    def run():
        adopt_orphans()
        subprocess.run(["sh", "-c", f"setsid sleep 60 & echo $! > {tmp_path}/a"], check=True)
        orphan = pid_in("a")
        was_alive = is_alive(orphan)
        end_descendants(patience_s=10)
        return was_alive, is_alive(orphan)

    assert in_a_task(run) == (True, False)


def test_all_generations_below_a_process_are_ended_and_none_beside_it(tmp_path, pid_in):
    beside = shell("sleep 60")

    def run():
        below = shell(f"sh -c 'sleep 60 & echo $! > {tmp_path}/a; wait' & wait")
        grandchild = pid_in("a")
        end_descendants(patience_s=10)
        return is_alive(below.pid), is_alive(grandchild)

    try:
        assert in_a_task(run) == (False, False)
        assert is_alive(beside.pid)
    finally:
        os.killpg(beside.pid, signal.SIGKILL)
        beside.communicate()
