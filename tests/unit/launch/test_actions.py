"""What whoever knows a sweep's folder can do: wait, look, cancel, and submit again."""

from __future__ import annotations

import json
import sys

import pytest
from tests.unit.launch.scene import make_sweep

from toolorchestra.launch import __main__ as command
from toolorchestra.launch import actions, watch
from toolorchestra.launch.actions import cancel, resubmit, tell_status, wait
from toolorchestra.launch.cluster import JobState
from toolorchestra.launch.job.journal import Journal
from toolorchestra.launch.status import statuses
from toolorchestra.launch.sweep import read_sweep, write_sweep

FAILED = ("failed", "error: no disk")


class Jobs:
    """A cluster whose jobs run until they are cancelled."""

    def __init__(self):
        self.cancelled = []

    def states(self, job_ids):
        gone = JobState(kind="ended", detail="no longer known")
        return {i: gone if i in self.cancelled else JobState(kind="running") for i in job_ids}

    def cancel(self, job_ids):
        self.cancelled += job_ids


@pytest.fixture
def sweep(tmp_path):
    """Points that finished, failed, run, and wait for room."""
    words = [(f"seed={number}",) for number in range(4)]
    made = make_sweep(tmp_path, *words, job_ids={0: "7_0", 1: "7_1", 2: "7_2"}, kind="local")
    finish(tmp_path, 0)
    fail(tmp_path, 1)
    return made


@pytest.fixture
def submitted(monkeypatch):
    """Numbers of the points that are submitted, each time; they become jobs n0, n1 and so on."""
    calls = []

    def submit(folder, sweep, numbers):
        calls.append(list(numbers))
        sweep = sweep.submitted({number: f"n{number}" for number in numbers})
        write_sweep(folder, sweep)
        return sweep

    monkeypatch.setattr(actions, "submit", submit)
    monkeypatch.setattr(watch, "submit", submit)
    return calls


def finish(folder, number):
    summary = {"config": {"seed": number}, "metrics": {"utility": 0.5}}
    (folder / str(number) / "summary.json").write_text(json.dumps(summary))


def fail(folder, number, job_id=None):
    attempt = f"{job_id or f'7_{number}'}#0"
    Journal(folder / str(number)).write(FAILED[0], attempt, step=0, host="n1", reason=FAILED[1])


def states(folder, jobs):
    return [status.state for status in statuses(folder, read_sweep(folder), jobs)]


def test_cancelling_ends_what_has_not_ended_and_it_stays_so_when_the_cluster_forgets(
    sweep, tmp_path, submitted, capsys
):
    jobs = Jobs()
    assert cancel(tmp_path, jobs, []) == 0
    assert capsys.readouterr().out == "cancelled 2 points\n"
    assert jobs.cancelled == ["7_2"]
    ended = ["finished", "failed", "cancelled", "cancelled"]
    assert states(tmp_path, jobs) == ended
    assert wait(tmp_path, jobs) == 1
    assert submitted == [], "neither what was lost nor what waited for room is started"
    assert states(tmp_path, jobs) == ended


def test_only_the_points_that_are_named_are_cancelled(sweep, tmp_path):
    jobs = Jobs()
    cancel(tmp_path, jobs, [3])
    assert jobs.cancelled == []
    assert states(tmp_path, jobs) == ["finished", "failed", "running", "cancelled"]


def test_what_ended_without_finishing_is_submitted_again_and_counts_anew(
    sweep, tmp_path, submitted, capsys
):
    jobs = Jobs()
    cancel(tmp_path, jobs, [2, 3])
    assert resubmit(tmp_path, jobs, []) == 0
    assert submitted == [[1, 2, 3]]
    assert capsys.readouterr().out.endswith(f"submitted again: 1, 2, 3; now: wait {tmp_path}\n")
    assert states(tmp_path, jobs) == ["finished", "running", "running", "running"]


@pytest.mark.parametrize("numbers", [[0], [2], [0, 2, 3]])
def test_nothing_is_submitted_again_that_has_finished_runs_or_waits(
    sweep, tmp_path, submitted, numbers
):
    with pytest.raises(ValueError, match="no such point has ended without finishing; see status"):
        resubmit(tmp_path, Jobs(), numbers)
    assert submitted == []


def test_a_point_that_there_is_not_is_answered_with_those_that_are(sweep, tmp_path):
    for action in (cancel, resubmit):
        with pytest.raises(ValueError) as caught:
            action(tmp_path, Jobs(), [1, 4, 9])
        assert str(caught.value) == "launcher: there is no point 4; use [0, 1, 2, 3]"


def test_a_look_shows_all_points_and_changes_nothing(sweep, tmp_path, submitted, capsys):
    before = sorted(tmp_path.rglob("*"))
    assert tell_status(tmp_path, Jobs()) == 0
    told = capsys.readouterr().out
    assert told.endswith("1 finished, 1 failed, 1 running, 1 waiting\n")
    assert "error: no disk" in told and "seed=3" in told
    assert submitted == [] and sorted(tmp_path.rglob("*")) == before


def test_a_wait_for_points_that_all_finish_ends_well_and_one_that_fails_turns_its_status(
    tmp_path, submitted, capsys
):
    make_sweep(tmp_path, ("seed=0",), ("seed=1",), job_ids={0: "7_0", 1: "7_1"})
    finish(tmp_path, 0)
    fail(tmp_path, 1)
    assert wait(tmp_path, Jobs()) == 1
    told = capsys.readouterr()
    assert told.err == ("error: 1 of 2 points did not finish:\n  point 1 failed: error: no disk\n")
    assert "Comparison of 1" in told.out

    finish(tmp_path, 1)
    assert wait(tmp_path, Jobs()) == 0
    told = capsys.readouterr()
    assert told.err == "" and "Comparison of 2" in told.out


def test_the_command_line_names_an_action_a_folder_and_points(sweep, tmp_path, monkeypatch, capsys):
    def main(*words):
        monkeypatch.setattr(sys, "argv", ["launch", *map(str, words)])
        return command.main()

    monkeypatch.setattr(command, "cluster_of", lambda kind: {"local": Jobs()}[kind])
    assert main("cancel", tmp_path, 2, 3) == 0
    assert main("status", tmp_path) == 0
    assert capsys.readouterr().out.startswith("cancelled 2 points\n")
    with pytest.raises(ValueError, match="holds no submitted sweep"):
        main("wait", tmp_path / "none")
    with pytest.raises(SystemExit):
        main("explode", tmp_path)
