"""Which task a process is, from the variables of Slurm and of submitit's own processes."""

from __future__ import annotations

import pytest

from toolorchestra.launch.job.journal import CANCELLED, CRASHED, PREEMPTED, STARTED, Journal
from toolorchestra.launch.job.place import Place

SLURM = {
    "SUBMITIT_EXECUTOR": "slurm",
    "SLURM_JOB_ID": "41",
    "SLURM_ARRAY_JOB_ID": "40",
    "SLURM_ARRAY_TASK_ID": "3",
    "SLURM_NTASKS": "16",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_NODEID": "1",
    "SLURM_PROCID": "13",
    "SLURM_LOCALID": "5",
    "SLURMD_NODENAME": "n2",
}
LOCAL = {
    "SUBMITIT_EXECUTOR": "local",
    "SUBMITIT_LOCAL_JOB_ID": "1234",
    "SUBMITIT_LOCAL_NTASKS": "2",
    "SUBMITIT_LOCAL_JOB_NUM_NODES": "1",
    "SUBMITIT_LOCAL_NODEID": "0",
    "SUBMITIT_LOCAL_GLOBALID": "1",
    "SUBMITIT_LOCAL_LOCALID": "1",
}


@pytest.fixture
def here(monkeypatch, tmp_path):
    """`here(SLURM, SLURM_PROCID="0")`: the place that these variables make."""

    def place(variables, **changes):
        for key, value in (variables | changes).items():
            monkeypatch.setenv(key, value)
        return Place.here(tmp_path)

    return place


def test_slurm_tells_each_task_of_an_array_where_it_stands(here):
    assert here(SLURM) == Place(
        job_id="40_3", attempt="40_3#0", rank=13, local_rank=5, node=1, num_ranks=16, host="n2"
    )


def test_a_job_outside_an_array_has_the_id_that_squeue_shows(here, monkeypatch):
    alone = {key: value for key, value in SLURM.items() if "ARRAY" not in key}
    assert here(alone).job_id == "41"


def test_each_time_that_slurm_starts_a_job_again_is_another_attempt(here):
    first = here(SLURM)
    again = here(SLURM, SLURM_RESTART_COUNT="2")
    assert (first.attempt, again.attempt) == ("40_3#0", "40_3#2")
    assert first.job_id == again.job_id
    assert here(SLURM, SLURM_RESTART_COUNT="2", SLURM_PROCID="0").attempt == again.attempt


def test_a_process_of_this_machine_is_reached_by_this_machine(here):
    assert here(LOCAL) == Place(
        job_id="1234", attempt="1234#0", rank=1, local_rank=1, node=0, num_ranks=2,
        host="127.0.0.1",
    )  # fmt: skip


def test_each_time_that_a_process_of_this_machine_is_started_again_is_another_attempt(
    here, tmp_path
):
    journal = Journal(tmp_path)
    attempts = [here(LOCAL).attempt]
    for kind in (CRASHED, PREEMPTED):
        journal.write(STARTED, attempts[-1], step=0, host="127.0.0.1")
        assert here(LOCAL).attempt == attempts[-1], "the other ranks begin a moment later"
        journal.write(kind, attempts[-1], step=0, host="127.0.0.1")
        attempts.append(here(LOCAL, SUBMITIT_LOCAL_GLOBALID="0").attempt)
    assert attempts == ["1234#0", "1234#1", "1234#2"]


def test_what_became_of_another_job_is_no_attempt_of_this_one(here, tmp_path):
    journal = Journal(tmp_path)
    journal.write(CRASHED, "12#0", step=0, host="127.0.0.1")
    journal.write(CANCELLED, "1234", step=0, host="127.0.0.1")
    assert here(LOCAL).attempt == "1234#0"


def test_outside_of_any_job_there_is_no_place(tmp_path):
    with pytest.raises(RuntimeError):
        Place.here(tmp_path)


def test_a_rank_of_several_is_told_the_variables_that_torch_and_lightning_read(here):
    assert here(SLURM).environment("n1", 4000) == {
        "MASTER_ADDR": "n1",
        "MASTER_PORT": "4000",
        "WORLD_SIZE": "16",
        "NODE_RANK": "1",
        "LOCAL_RANK": "5",
    }


def test_a_rank_alone_is_told_nothing(here):
    assert here(LOCAL, SUBMITIT_LOCAL_NTASKS="1").environment("127.0.0.1", 0) == {}
