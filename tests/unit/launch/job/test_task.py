"""What a task of a point's job starts, from which code, and that submitit can carry it."""

from __future__ import annotations

import sys

import cloudpickle
import pytest
from tests.unit.launch.attempts import LOCAL, begun, events_of
from tests.unit.launch.scene import in_a_task, put_command

from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job import first_rank, other_rank
from toolorchestra.launch.job.task import PointJob


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job of a point; in place of Python, a script that writes what it was started with."""
    script = 'echo "$PWD|$*"; echo "$PYTHONPATH|$WANDB_RUN_GROUP|$OMP_NUM_THREADS"'
    python = put_command(tmp_path, "python", script)
    monkeypatch.setattr(sys, "executable", str(python))
    for module in (first_rank, other_rank):
        monkeypatch.setattr(module, "LOOK_S", 0.01)
    for key, value in LOCAL.items():
        monkeypatch.setenv(key, value)
    (tmp_path / "s/code").mkdir(parents=True)
    (tmp_path / "s/3").mkdir()
    return PointJob(
        run_dir=tmp_path / "s/3",
        code=tmp_path / "s/code",
        overrides=("seed=3", "toolset=local"),
        group="a group",
        launcher=LauncherConfig(kind="local", cpus_per_task=5),
    )


def told(job, name="log.txt"):
    return (job.run_dir / "job" / name).read_text().splitlines()


def test_the_first_task_runs_the_points_command_from_the_copy_of_the_code(job):
    in_a_task(job)
    here = f"launcher=serial hydra.mode=RUN hydra.run.dir='{job.run_dir}'"
    words = f"-u train.py seed=3 toolset=local {here}"
    assert told(job) == [f"{job.code}|{words}", f"{job.code}/src|a group|5"]
    assert [kind for kind, *_ in events_of(job.run_dir)] == ["started", "finished"]


def test_a_point_that_was_begun_before_is_resumed_where_it_was(job):
    (job.run_dir / "run.json").touch()
    in_a_task(job)
    assert told(job)[0].endswith(f" hydra.run.dir='{job.run_dir}' resume='{job.run_dir}'")


def test_another_task_follows_the_first(job, monkeypatch):
    monkeypatch.setenv("SUBMITIT_LOCAL_NTASKS", "2")
    monkeypatch.setenv("SUBMITIT_LOCAL_GLOBALID", "1")
    begun(job.run_dir, port=4000)
    in_a_task(job)
    assert told(job, "rank_1.txt") == [
        f"{job.code}|-u -m toolorchestra.follow {job.run_dir}", f"{job.code}/src|a group|5",
    ]  # fmt: skip
    assert len(events_of(job.run_dir)) == 1


def test_a_job_reads_back_equal_from_the_file_that_submitit_keeps_it_in(job):
    assert cloudpickle.loads(cloudpickle.dumps(job)) == job


def test_a_job_that_is_signalled_before_it_has_begun_is_queued_again_as_it_is(job):
    assert job.checkpoint().function == job
