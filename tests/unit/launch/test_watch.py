"""The wait for a sweep: whom it submits again, whom it gives up, and what it tells."""

from __future__ import annotations

import logging
import time

import pytest
from tests.unit.launch.attempts import put_checkpoint
from tests.unit.launch.scene import make_sweep

from toolorchestra.launch import watch as module
from toolorchestra.launch.cluster import JobState
from toolorchestra.launch.job.journal import Journal
from toolorchestra.launch.sweep import read_sweep, write_sweep
from toolorchestra.launch.watch import Watch

RUNS, QUEUED = JobState(kind="running"), JobState(kind="queued", detail="Priority")
GONE = JobState(kind="ended", detail="NODE_FAIL")


class Jobs:
    """A cluster: what it says of all jobs at each look, one after the other; the last for ever."""

    def __init__(self, *looks):
        self._looks = list(looks)

    def states(self, job_ids):
        look = self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]
        if isinstance(look, Exception):
            raise look
        if callable(look):
            look = look()
        return {i: look[i] if isinstance(look, dict) else look for i in job_ids}


@pytest.fixture
def submitted(monkeypatch):
    """Numbers of the points that are submitted, each time; the n-th time they become jobs n."""
    calls = []

    def submit(folder, sweep, numbers):
        calls.append(list(numbers))
        sweep = sweep.submitted({number: f"{len(calls)}_{number}" for number in numbers})
        write_sweep(folder, sweep)
        return sweep

    monkeypatch.setattr(module, "submit", submit)
    return calls


def watch(tmp_path, *looks, num_points=1, job_ids=None, **options):
    points = [(f"seed={number}",) for number in range(num_points)]
    ids = {number: f"a{number}" for number in range(num_points)} if job_ids is None else job_ids
    make_sweep(tmp_path, *points, job_ids=ids, **options)
    return Watch(tmp_path, Jobs(*looks))


def looks(watched, count):
    """States of all points at so many looks."""
    return [" ".join(status.state for status in watched.look()) for _ in range(count)]


def finish(tmp_path, number=0):
    (tmp_path / str(number) / "summary.json").touch()


def test_a_point_whose_job_has_vanished_at_two_looks_in_a_row_is_submitted_again(
    tmp_path, submitted
):
    watched = watch(tmp_path, GONE, GONE, QUEUED, RUNS)
    assert looks(watched, 4) == ["lost", "lost", "queued", "running"]
    assert submitted == [[0]]


def test_a_job_that_is_between_two_states_for_one_look_is_not(tmp_path, submitted):
    watched = watch(tmp_path, GONE, RUNS, GONE, RUNS)
    assert looks(watched, 4) == ["lost", "running"] * 2
    assert submitted == []


def test_a_point_whose_jobs_vanish_again_and_again_at_one_step_is_given_up(tmp_path, submitted):
    watched = watch(tmp_path, GONE, max_idle_restarts=2)
    points = watched.wait()
    assert submitted == [[0], [0]]
    assert points[0].state == "failed"
    assert points[0].reason == "its jobs ended without a word (NODE_FAIL) 3 times at one step"


def test_a_point_that_was_lost_before_is_not_given_up_for_one_look_between_two_states(
    tmp_path, submitted
):
    watched = watch(tmp_path, GONE, GONE, RUNS, GONE, RUNS, max_idle_restarts=1)
    assert looks(watched, 5) == ["lost", "lost", "running", "lost", "running"]
    assert submitted == [[0]]


def test_a_point_that_is_given_up_stays_so_while_others_go_on(tmp_path, submitted):
    watched = watch(tmp_path, {"a0": GONE, "a1": RUNS}, num_points=2, max_idle_restarts=0)
    assert looks(watched, 5) == ["lost running", *["failed running"] * 4]
    assert submitted == []


def test_losses_at_another_step_do_not_count(tmp_path, submitted):
    watched = watch(tmp_path, GONE, max_idle_restarts=1)
    for step in (1, 2, 3):
        put_checkpoint(tmp_path / "0", step)
        assert looks(watched, 2) == ["lost", "lost"]
    assert submitted == [[0]] * 3
    assert looks(watched, 2)[-1] == "failed"


def test_points_that_wait_are_submitted_as_soon_as_there_is_room(tmp_path, submitted):
    watched = watch(
        tmp_path, RUNS, num_points=5, job_ids={0: "a", 1: "b"}, kind="local", max_parallel=2
    )
    assert looks(watched, 1) == ["running running waiting waiting waiting"]
    assert submitted == []
    finish(tmp_path, 0)
    looks(watched, 1)
    assert submitted == [[2]]
    finish(tmp_path, 1)
    finish(tmp_path, 2)
    assert looks(watched, 2)[-1] == "finished finished finished running running"
    assert submitted == [[2], [3, 4]]


def test_a_lost_point_keeps_its_room_until_it_is_submitted_again(tmp_path, submitted):
    jobs = {"a": GONE, "1_0": RUNS}
    watched = watch(tmp_path, jobs, num_points=2, job_ids={0: "a"}, kind="local", max_parallel=1)
    assert looks(watched, 3) == ["lost waiting", "lost waiting", "running waiting"]
    assert submitted == [[0]]


def test_the_wait_ends_when_every_point_has_whatever_became_of_it(tmp_path, submitted):
    def end():
        finish(tmp_path, 0)
        Journal(tmp_path / "1").write("failed", "a1#0", step=0, host="n1", reason="error: no disk")
        return {"a0": RUNS, "a1": RUNS, "a2": JobState(kind="ended", detail="CANCELLED")}

    points = watch(tmp_path, RUNS, end, num_points=3).wait()
    assert [(p.state, p.reason) for p in points] == [
        ("finished", ""), ("failed", "error: no disk"), ("cancelled", "CANCELLED"),
    ]  # fmt: skip
    assert submitted == []


def test_a_cluster_that_is_silent_for_a_while_is_waited_for(tmp_path, submitted, caplog):
    def end():
        finish(tmp_path)
        return RUNS

    (point,) = watch(tmp_path, ConnectionError("no controller"), RUNS, end).wait()
    assert point.state == "finished"
    assert caplog.messages[0] == "the cluster does not answer (no controller); its jobs go on"


def test_silence_is_counted_from_the_last_answer(tmp_path, submitted, monkeypatch):
    monkeypatch.setattr(module, "SILENCE_S", 0.5)

    def answer_late():
        time.sleep(0.6)
        return RUNS

    def end():
        finish(tmp_path)
        return RUNS

    (point,) = watch(tmp_path, answer_late, ConnectionError("no controller"), end).wait()
    assert point.state == "finished"


def test_a_cluster_that_is_silent_for_long_ends_the_wait_with_how_to_go_on(
    tmp_path, submitted, monkeypatch
):
    monkeypatch.setattr(module, "SILENCE_S", 0.1)
    silent = watch(tmp_path, RUNS, ConnectionError("no controller"))
    with pytest.raises(ValueError) as caught:
        silent.wait()
    assert str(caught.value) == (
        "launcher: no answer for 0 minutes (no controller); later, python -m toolorchestra.launch "
        f"wait {tmp_path}"
    )
    assert submitted == []


def test_only_what_changes_is_told_with_how_many_are_in_each_state(tmp_path, submitted, caplog):
    caplog.set_level(logging.INFO)
    watched = watch(tmp_path, QUEUED, QUEUED, RUNS, RUNS, RUNS, GONE, GONE)
    told = []
    for step in (0, 0, 0, 0, 4, 4, 4):
        if step:
            (tmp_path / f"0/checkpoints/step_{step:06d}").mkdir(parents=True, exist_ok=True)
        caplog.clear()
        watched.look()
        told.append(caplog.messages)
    assert told == [
        ["point 0 (job a0) queued at step 0: Priority", "1 queued"],
        [],
        ["point 0 (job a0) running at step 0", "1 running"],
        [],
        ["point 0 (job a0) running at step 4", "1 running"],
        ["point 0 (job a0) lost at step 4: NODE_FAIL", "1 lost"],
        ["submitted again point 0"],
    ]


def test_what_was_submitted_is_read_from_the_folder_by_whoever_waits(tmp_path, submitted):
    watch(tmp_path, RUNS, job_ids={0: "a"})
    (point,) = Watch(tmp_path, Jobs({"a": QUEUED})).look()
    assert point.state == "queued"
    assert read_sweep(tmp_path).points[0].job_ids == ("a",)


def test_points_that_somebody_else_resubmits_meanwhile_are_waited_for_too(tmp_path, submitted):
    watched = watch(tmp_path, {"a": GONE, "b": RUNS}, job_ids={0: "a"})
    assert looks(watched, 1) == ["lost"]
    write_sweep(tmp_path, read_sweep(tmp_path).submitted({0: "b"}))
    assert looks(watched, 1) == ["running"]
    assert submitted == []


def test_what_the_cluster_refuses_to_take_again_is_offered_until_it_does(
    tmp_path, submitted, monkeypatch, caplog
):
    takes, refusals = module.submit, [ValueError("launcher: too many jobs")] * 2

    def refuse(*arguments):
        if refusals:
            raise refusals.pop()
        finish(tmp_path)
        return takes(*arguments)

    monkeypatch.setattr(module, "submit", refuse)
    (point,) = watch(tmp_path, GONE, poll_s=0.01).wait()
    assert point.state == "finished"
    assert submitted == [[0]]
    assert caplog.text.count("too many jobs") == 2
