"""How jobs fare: what squeue prints, read; and processes of this machine, looked at."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest
from tests.unit.launch.scene import is_alive, until

from toolorchestra.launch import cluster
from toolorchestra.launch.cluster import (
    JobState,
    LocalCluster,
    SlurmCluster,
    ask,
    cluster_of,
    is_ending,
)

FORGOTTEN = JobState(kind="ended", detail="no longer known")


def states(commands, lines, *job_ids):
    commands("squeue", f"printf '%s\\n' {' '.join(repr(line) for line in lines)}")
    return SlurmCluster().states(job_ids)


def test_each_task_of_an_array_has_a_state_of_its_own(commands):
    lines = ["40_2|PENDING|Priority", "40_0|RUNNING|None", "40_1|FAILED|NonZeroExitCode"]
    assert states(commands, lines, "40_0", "40_1", "40_2", "40_3") == {
        "40_0": JobState(kind="running"),
        "40_1": JobState(kind="ended", detail="FAILED"),
        "40_2": JobState(kind="queued", detail="Priority"),
        "40_3": FORGOTTEN,
    }


@pytest.mark.parametrize(
    ("word", "reason", "state"),
    [
        ("PENDING", "None", JobState(kind="queued")),
        ("PENDING", "Resources", JobState(kind="queued", detail="Resources")),
        ("CONFIGURING", "None", JobState(kind="queued")),
        ("REQUEUE_HOLD", "JobHeldAdmin", JobState(kind="queued", detail="JobHeldAdmin")),
        ("RUNNING", "None", JobState(kind="running")),
        ("COMPLETING", "None", JobState(kind="running", detail="COMPLETING")),
        ("COMPLETED", "None", JobState(kind="ended", detail="COMPLETED")),
        ("CANCELLED", "None", JobState(kind="ended", detail="CANCELLED")),
        ("TIMEOUT", "TimeLimit", JobState(kind="ended", detail="TIMEOUT")),
        ("NODE_FAIL", "None", JobState(kind="ended", detail="NODE_FAIL")),
        ("OUT_OF_MEMORY", "OutOfMemory", JobState(kind="ended", detail="OUT_OF_MEMORY")),
    ],
)
def test_slurms_words_mean_queued_running_or_ended(commands, word, reason, state):
    assert states(commands, [f"7|{word}|{reason}"], "7") == {"7": state}


def test_a_reason_with_a_bar_and_a_line_of_something_else_do_no_harm(commands):
    lines = ["squeue: warning", "7|PENDING|(a|b)", "8|RUNNING|None"]
    assert states(commands, lines, "7") == {"7": JobState(kind="queued", detail="(a|b)")}


def test_a_job_that_slurm_has_forgotten_has_ended(commands):
    commands("squeue", 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1')
    assert SlurmCluster().states(["7", "8_0"]) == {"7": FORGOTTEN, "8_0": FORGOTTEN}


def test_accounts_tell_how_jobs_ended_that_squeue_has_forgotten(commands):
    sacct = commands("sacct", "echo '40_1|CANCELLED by 0'; echo '9|FAILED'")
    found = states(commands, ["40_0|RUNNING|None"], "40_0", "40_1", "40_2", "9")
    assert found == {
        "40_0": JobState(kind="running"),
        "40_1": JobState(kind="ended", detail="CANCELLED by 0"),
        "40_2": FORGOTTEN,
        "9": JobState(kind="ended", detail="FAILED"),
    }
    assert list(found) == ["40_0", "40_1", "40_2", "9"]
    assert sacct.read_text().endswith("--format=JobID,State --jobs=40_1,40_2,9\n")


def test_accounts_are_not_asked_where_squeue_knows_every_job(commands):
    sacct = commands("sacct", "echo '7|FAILED'")
    assert states(commands, ["7|RUNNING|None"], "7") == {"7": JobState(kind="running")}
    assert not sacct.exists()


def test_squeue_is_asked_once_for_each_array_and_one_that_is_gone_hides_no_other(commands):
    calls = commands(
        "squeue",
        'case "$*" in *--jobs=40) echo "40_0|RUNNING|None";; *) echo "Invalid job id" >&2; exit 1;;'
        " esac",
    )
    found = SlurmCluster().states(["40_0", "9", "40_1"])
    assert found == {"40_0": JobState(kind="running"), "9": FORGOTTEN, "40_1": FORGOTTEN}
    words = "--states=all --array --noheader --format=%i|%T|%r --jobs="
    assert calls.read_text().splitlines() == [f"{words}40", f"{words}9"]


def test_without_jobs_nobody_is_asked(commands):
    squeue, scancel = commands("squeue", "exit 1"), commands("scancel", "exit 1")
    assert SlurmCluster().states([]) == {}
    SlurmCluster().cancel([])
    assert not squeue.exists() and not scancel.exists()


@pytest.mark.parametrize(
    "said",
    [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sinfo: fatal: Could not establish a configuration source",
        "slurm_load_jobs error: Zero Bytes were transmitted or received: Connection refused",
        "slurm_load_jobs error: Socket timed out on send/recv operation",
        "slurm_load_jobs error: something that nobody has thought of",
    ],
)
def test_no_answer_is_never_taken_for_the_end_of_a_job(commands, said):
    commands("squeue", f"echo '{said}' >&2; exit 1")
    with pytest.raises(ConnectionError, match=said[:30]):
        SlurmCluster().states(["7"])


def test_all_jobs_are_cancelled_by_one_command_and_a_refusal_is_told(commands):
    calls = commands("scancel", "exit 0")
    SlurmCluster().cancel(["40_0", "40_3", "7"])
    assert calls.read_text() == "40_0 40_3 7\n"
    commands("scancel", 'echo "scancel: error: Access\n denied" >&2; exit 1')
    with pytest.raises(ValueError, match="^scancel: error: Access denied$"):
        SlurmCluster().cancel(["7"])


def test_what_a_command_prints_is_returned_and_its_refusal_is_its_own_words(commands, monkeypatch):
    commands("sinfo", "echo a; echo b; echo loud >&2")
    assert ask(["sinfo"]) == "a\nb\n"
    commands("sinfo", "echo 'on standard output'; exit 1")
    with pytest.raises(ValueError, match="^on standard output$"):
        ask(["sinfo"])
    monkeypatch.setattr(cluster, "ANSWER_S", 0.1)
    commands("sinfo", "exec sleep 60")
    with pytest.raises(ConnectionError, match="sinfo has not answered"):
        ask(["sinfo"])


@pytest.mark.parametrize(
    ("state", "answer"),
    [("CANCELLED", True), ("COMPLETING", True), ("RUNNING", False), ("PREEMPTED", False)],
)
def test_a_signalled_job_learns_from_slurm_whether_it_has_been_ended(commands, state, answer):
    calls = commands("scontrol", f"echo 'JobId=41 JobName=x JobState={state} Reason=None'")
    assert is_ending("slurm", "40_3") is answer
    assert calls.read_text() == "--oneliner show job 40_3\n"


@pytest.mark.parametrize("said", ["Unable to contact slurm controller", "Invalid job id"])
def test_a_job_that_cannot_ask_slurm_takes_itself_for_one_that_goes_on(commands, said):
    commands("scontrol", f"echo '{said}' >&2; exit 1")
    assert not is_ending("slurm", "7")


def test_a_process_of_this_machine_asks_no_slurm(commands):
    calls = commands("scontrol", "echo JobState=CANCELLED")
    assert not is_ending("local", "7")
    assert not calls.exists()


@pytest.fixture
def controller(tmp_path):
    """What looks like a process of submitit's local executor, with a child and a grandchild."""
    child = f"sleep 60 & echo $$ $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pids; wait"
    program = f"import subprocess; subprocess.run(['setsid', 'sh', '-c', {child!r}])"
    command = [sys.executable, "-S", "-c", program, "-m", "submitit.local._local", str(tmp_path)]
    process = subprocess.Popen(command)
    until((tmp_path / "pids").exists)
    yield process
    process.kill()
    process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(int((tmp_path / "pids").read_text().split()[0]), signal.SIGKILL)


def test_a_local_job_runs_as_long_as_its_process_even_if_nobody_takes_note(controller):
    job_id = str(controller.pid)
    assert LocalCluster().states([job_id]) == {job_id: JobState(kind="running")}
    controller.kill()
    until(lambda: not is_alive(controller.pid))  # a zombie from now on
    assert LocalCluster().states([job_id]) == {job_id: JobState(kind="ended")}
    controller.wait()
    assert LocalCluster().states([job_id]) == {job_id: JobState(kind="ended")}


def test_a_number_that_is_another_processs_by_now_is_no_job_and_is_left_alone(tmp_path):
    other = subprocess.Popen(["sleep", "60"])
    try:
        assert LocalCluster().states([str(other.pid)])[str(other.pid)].kind == "ended"
        LocalCluster().cancel([str(other.pid), "no number", str(os.getpid())])
        assert is_alive(other.pid)
    finally:
        other.kill()
        other.wait()


def test_a_local_job_is_cancelled_with_all_that_it_has_started(controller, tmp_path):
    family = [controller.pid, *map(int, (tmp_path / "pids").read_text().split())]
    assert list(map(is_alive, family)) == [True] * 3
    LocalCluster().cancel([str(controller.pid)])
    until(lambda: not any(map(is_alive, family)))


def test_the_kind_of_a_launcher_says_who_runs_its_jobs():
    assert isinstance(cluster_of("slurm"), SlurmCluster)
    assert isinstance(cluster_of("local"), LocalCluster)
