"""Whole sweeps on a real Slurm: what becomes of points that fail, are killed, cancelled or left."""

from __future__ import annotations

import subprocess

import psutil
from tests.slurm.conftest import until
from tests.slurm.stand_in import attempts_of, make_sweep, steps_of
from tests.slurm.sweeps import accounting, in_training, kinds, launch, start, states, wait

from toolorchestra.launch.submit import submit
from toolorchestra.launch.sweep import read_sweep


def test_a_sweep_is_one_job_array_and_a_point_that_fails_leaves_the_others_alone(folder):
    sweep = start(folder, ("seed=1",), ("fail_at=2",), ("seed=3",))
    assert len({point.job_ids[0].partition("_")[0] for point in sweep.points}) == 1
    points = wait(folder)
    assert states(points) == ["finished", "failed", "finished"]
    assert points[1].reason.startswith("error: no such thing (see ")
    for number, end in ((0, "COMPLETED|0:0"), (1, "FAILED|1:0"), (2, "COMPLETED|0:0")):
        until(lambda job=sweep.points[number].job_ids[0], end=end: accounting(job) == end)


def test_training_that_is_killed_is_queued_again_by_its_own_job_and_goes_on(folder):
    start(folder, ("die_at=3", "steps=5"))
    assert states(wait(folder)) == ["finished"]
    assert steps_of(folder) == [1, 2, 3, 4, 5]
    until(lambda: kinds(folder) == ["started", "crashed", "started", "finished"])
    assert len(read_sweep(folder).points[0].job_ids) == 1


def test_a_job_that_is_killed_whole_is_submitted_again_by_whoever_waits(folder):
    start(folder, ("steps=8", "pace=1"))
    training = in_training(folder)
    psutil.Process(training).parent().kill()  # the job's own task, in which nothing is left to act
    assert states(wait(folder)) == ["finished"]
    assert sorted(set(steps_of(folder))) == list(range(1, 9))
    assert len(read_sweep(folder).points[0].job_ids) == 2
    assert not psutil.pid_exists(training)


def test_a_cancelled_point_stays_so_and_leaves_no_process(folder):
    start(folder, ("steps=100", "pace=1", "orphans=1"), ("steps=3",))
    training = in_training(folder)
    family = [p.pid for p in psutil.Process(training).children(recursive=True)]
    assert len(family) == 2
    assert launch("cancel", folder, "0").returncode == 0
    assert states(wait(folder)) == ["cancelled", "finished"]
    until(lambda: not any(map(psutil.pid_exists, [training, *family])))
    assert "COMPLETED" not in accounting(read_sweep(folder).points[0].job_ids[0])


def test_who_cancels_by_slurms_own_command_is_obeyed_too(folder):
    sweep = start(folder, ("steps=100", "pace=1"))
    in_training(folder)
    subprocess.run(["scancel", sweep.points[0].job_ids[0]], check=True)
    assert states(wait(folder)) == ["cancelled"]
    assert len(attempts_of(folder)) == 1


def test_a_sweep_left_alone_is_looked_at_waited_for_and_resubmitted_by_others(folder):
    start(folder, ("steps=6", "pace=1"), ("fail_at=2",))
    told = launch("status", folder)
    assert told.returncode == 0, told.stderr
    waited = launch("wait", folder)
    assert waited.returncode == 1
    assert "1 of 2 points did not finish:\n  point 1 failed: error: no such" in waited.stderr
    assert (folder / "points.md").exists()
    assert (folder / "comparison.md").exists()

    assert launch("resubmit", folder).returncode == 0
    assert states(wait(folder)) == ["finished", "failed"]
    assert len(attempts_of(folder, 0)) == 1, "finished work was run again"
    assert [begun for _, begun, _ in attempts_of(folder, 1)] == [0, 1]


def test_a_point_that_dies_again_and_again_at_one_step_is_given_up(folder):
    program = folder / "code/train.py"
    sweep = make_sweep(folder, ("steps=3",), max_idle_restarts=1)
    program.write_text("import os; os.kill(os.getpid(), 9)")
    submit(folder, sweep, [0])
    (point,) = wait(folder)
    assert point.state == "failed"
    assert "no new checkpoint after 1 restarts" in point.reason
    until(lambda: kinds(folder) == ["started", "crashed", "started", "failed"])


def test_no_point_is_run_by_two_jobs_at_once(folder):
    """Somebody resubmits by hand a point whose first job is still at work."""
    sweep = start(folder, ("steps=12", "pace=0.5"))
    first = in_training(folder)
    submit(folder, sweep, [0])
    assert states(wait(folder)) == ["finished"]
    assert len(attempts_of(folder)) == 2
    assert not psutil.pid_exists(first)
    assert steps_of(folder) == sorted(set(steps_of(folder))), "both wrote"
