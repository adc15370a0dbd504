"""Points that a real Slurm preempts, runs out of time for, requeues or loses a node under."""

from __future__ import annotations

import psutil
import pytest
from tests.slurm.conftest import until
from tests.slurm.stand_in import ROOT, attempts_of, steps_of
from tests.slurm.sweeps import (
    in_training,
    kinds,
    preempting,
    run,
    start,
    states,
    wait,
)

from toolorchestra.launch.sweep import read_sweep

SLOW = ("steps=12", "pace=1")


def steps_once(folder, number=0, *, last=12):
    """Whether every step was done once and in order: none was lost to the interruption."""
    return steps_of(folder, number) == list(range(1, last + 1))


def test_preempted_points_stop_after_their_step_and_go_on_in_the_same_folder(folder):
    start(folder, SLOW, SLOW)
    in_training(folder, 0), in_training(folder, 1)
    with preempting():
        until(lambda: kinds(folder, 0)[-1] == kinds(folder, 1)[-1] == "preempted")
    assert states(wait(folder)) == ["finished", "finished"]
    for number in (0, 1):
        told = ["started", "preempted", "started", "finished"]
        until(lambda number=number, told=told: kinds(folder, number) == told)
        assert steps_once(folder, number)
        assert len(read_sweep(folder).points[number].job_ids) == 1, "two owners queued it"


def test_a_point_is_preempted_as_often_as_it_takes(folder):
    start(folder, SLOW, max_idle_restarts=0)
    for _ in range(3):
        begun = len(attempts_of(folder))
        until(lambda begun=begun: len(attempts_of(folder)) > 0 and kinds(folder)[-1] == "started")
        in_training(folder)
        with preempting():
            until(lambda: kinds(folder)[-1] != "started")
        until(lambda: kinds(folder)[-1] == "started")
    assert states(wait(folder)) == ["finished"]
    assert kinds(folder).count("preempted") == 3
    assert steps_once(folder)


def test_sigterm_alone_counts_as_preemption(folder):
    """As on clusters that send no user signal when they preempt."""
    sweep = start(folder, SLOW)
    in_training(folder)
    run("scancel", "--signal=TERM", sweep.points[0].job_ids[0])
    assert states(wait(folder)) == ["finished"]
    until(lambda: kinds(folder) == ["started", "preempted", "started", "finished"])
    assert steps_once(folder)


def test_an_administrators_requeue_is_followed_by_one_more_attempt(folder):
    sweep = start(folder, SLOW)
    in_training(folder)
    run("scontrol", "requeue", sweep.points[0].job_ids[0])
    assert states(wait(folder)) == ["finished"]
    assert len(attempts_of(folder)) == 2
    assert steps_once(folder)


def test_a_step_too_long_for_the_time_that_is_left_is_broken_off_and_done_anew(folder):
    sweep = start(folder, ("steps=3", "pace=8"), stop_within_s=1)
    until(lambda: len(attempts_of(folder)) == 1)
    run("scancel", "--signal=USR2", sweep.points[0].job_ids[0])
    assert states(wait(folder)) == ["finished"]
    until(lambda: kinds(folder) == ["started", "preempted", "started", "finished"])
    assert steps_once(folder, last=3)


def test_a_point_that_runs_out_of_time_is_queued_again(folder):
    start(folder, ("steps=70", "pace=1"), time_min=1, signal_s=40)
    assert states(wait(folder)) == ["finished"]
    assert "timed out" in kinds(folder)
    assert steps_once(folder, last=70)


@pytest.fixture
def fail_node():
    """`fail_node("n1")` kills the node's daemon; it is brought back when the test ends."""
    script, failed = str(ROOT / "slurm/dev/node.sh"), []

    def fail(node):
        failed.append(node)
        run(script, "kill", node)

    yield fail
    for node in failed:
        run(script, "start", node)


def test_a_point_whose_node_fails_goes_on_on_another_and_is_never_run_twice_at_once(
    folder, fail_node
):
    """Only the node's daemon dies; the training lives on, cut off, and must be noticed."""
    start(folder, ("steps=100", "pace=1"))
    cut_off = in_training(folder)
    (_, _, node) = attempts_of(folder)[0]
    fail_node(node)
    until(lambda: len(attempts_of(folder)) > 1)
    assert not psutil.pid_exists(cut_off), "both are at work in one folder"
    assert attempts_of(folder)[1][2] != node
    until(lambda: kinds(folder)[-1] == "started" and steps_of(folder)[-1] > 3)
    steps = steps_of(folder)
    assert steps == sorted(set(steps)), "both wrote"
