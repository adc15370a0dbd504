"""How an attempt ends, what is written of it, and whether its job is queued again."""

from __future__ import annotations

import pytest
from tests.unit.launch.attempts import (
    AGAIN,
    HEARS,
    LOCAL,
    adds,
    begun,
    events_of,
    first_rank,
    place_of,
    put_checkpoint,
)
from tests.unit.launch.scene import in_a_task, is_alive

from toolorchestra.launch.job import first_rank as module
from toolorchestra.launch.job.journal import Journal

SIGNALLED = f"kill -USR2 $PPID; {HEARS}"
DIES = "kill -KILL $$"


@pytest.fixture(autouse=True)
def as_a_job_that_looks_often(monkeypatch):
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    monkeypatch.setattr(module, "OWNER_S", 0.02)
    for key, value in LOCAL.items():
        monkeypatch.setenv(key, value)


def keep(tmp_path, script, **options):
    """Keeps a script as a task of a job would; the status that the task ends with."""
    try:
        in_a_task(first_rank(tmp_path, script, **options).keep)
    except SystemExit as ended:
        return ended.code
    return 0


def fail(tmp_path, script, **options):
    """The same for one that fails; what the job itself says."""
    with pytest.raises(RuntimeError) as caught:
        keep(tmp_path, script, **options)
    return str(caught.value)


def test_training_that_ends_well_finishes_the_point(tmp_path):
    assert keep(tmp_path, "mkdir -p checkpoints/step_000020") == 0
    assert events_of(tmp_path) == [("started", 0, ""), ("finished", 20, "")]


def test_training_alone_has_no_place_among_ranks_and_one_of_several_listens(tmp_path):
    tell = 'echo "$MASTER_ADDR:$MASTER_PORT $WORLD_SIZE $NODE_RANK $LOCAL_RANK"'
    keep(tmp_path / "a", tell)
    keep(tmp_path / "b", tell, place=place_of(num_ranks=16))
    log = "job/log.txt"
    assert (tmp_path / "a" / log).read_text() == ":   \n"
    event = module.Journal(tmp_path / "b").read()[0]
    assert event.port > 0
    assert (tmp_path / "b" / log).read_text() == f"n1:{event.port} 16 0 0\n"


def test_a_point_that_has_finished_is_not_run_again_and_nothing_is_written(tmp_path):
    (tmp_path / "summary.json").touch()
    assert keep(tmp_path, "touch ran") == 0
    assert not (tmp_path / "ran").exists() and events_of(tmp_path) == []


def test_a_fault_fails_the_point_and_its_own_job_with_the_last_error(tmp_path):
    reason = f"error: no such tool (see {tmp_path}/job/log.txt)"
    assert fail(tmp_path, "echo 'error: no such tool'; echo bye; exit 1") == reason
    assert events_of(tmp_path) == [("started", 0, ""), ("failed", 0, reason)]


def test_training_that_a_signal_to_the_job_stops_is_queued_again(tmp_path):
    script = f"mkdir -p checkpoints/step_000003; {SIGNALLED}"
    assert keep(tmp_path, script) == AGAIN
    assert events_of(tmp_path) == [("started", 0, ""), ("preempted", 3, "")]
    assert not (tmp_path / "stop").exists()


def test_sigterm_alone_stops_training_too(tmp_path):
    assert keep(tmp_path, f"kill -TERM $PPID; {HEARS}") == AGAIN
    assert [kind for kind, *_ in events_of(tmp_path)] == ["started", "preempted"]


def test_training_that_does_not_stop_in_time_is_broken_off(tmp_path):
    script = "kill -USR2 $PPID; echo $$ > pid; exec sleep 60"
    assert keep(tmp_path, script, stop_within_s=0) == AGAIN
    assert [kind for kind, *_ in events_of(tmp_path)] == ["started", "preempted"]
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_training_that_ends_well_although_it_was_to_stop_has_finished(tmp_path):
    assert keep(tmp_path, "kill -USR2 $PPID; exit 0") == 0
    assert events_of(tmp_path)[-1][0] == "finished"


def test_a_signal_near_the_end_of_the_jobs_time_says_so(tmp_path):
    # 120 s in all: fewer than the 61 s of the signal and 60 s of slack are left from the start
    assert keep(tmp_path, SIGNALLED, time_min=2, signal_s=61) == AGAIN
    assert events_of(tmp_path)[-1] == ("timed out", 0, "ran for the 2 minutes it had")
    # 50 s more than these remain
    assert keep(tmp_path / "b", SIGNALLED, time_min=2, signal_s=10) == AGAIN
    assert events_of(tmp_path / "b")[-1][0] == "preempted"


def test_a_killed_process_is_started_again_by_its_own_job(tmp_path):
    assert keep(tmp_path, DIES) == AGAIN
    assert events_of(tmp_path)[-1] == ("crashed", 0, "the first rank ended by signal 9")


def test_a_point_that_dies_again_and_again_at_one_step_fails(tmp_path):
    put_checkpoint(tmp_path, 5)
    for _ in range(2):
        assert keep(tmp_path, DIES, max_idle_restarts=2) == AGAIN
    told = fail(tmp_path, DIES, max_idle_restarts=2)
    assert told == (
        "the first rank ended by signal 9; no new checkpoint after 2 restarts, see "
        f"{tmp_path}/job, and for time launcher.time_min and trainer.checkpoint_every"
    )
    assert [kind for kind, *_ in events_of(tmp_path)] == [*["started", "crashed"] * 2, "started",
                                                          "failed"]  # fmt: skip


def test_crashes_of_a_job_before_a_resubmission_do_not_count(tmp_path):
    for number in range(2):
        Journal(tmp_path).write("crashed", f"6#{number}", step=0, host="n1")
    assert keep(tmp_path, DIES, max_idle_restarts=1) == AGAIN
    fail(tmp_path, DIES, max_idle_restarts=1)


def test_a_new_checkpoint_forgives_the_crashes_before_it(tmp_path):
    for step in range(4):
        script = f"mkdir -p checkpoints/step_{step:06d}; {DIES}"
        assert keep(tmp_path, script, max_idle_restarts=1) == AGAIN
    fail(tmp_path, DIES, max_idle_restarts=1)


def test_being_preempted_again_and_again_fails_nothing_and_forgives_nothing(tmp_path):
    assert keep(tmp_path, DIES, max_idle_restarts=1) == AGAIN
    for _ in range(2):
        assert keep(tmp_path, SIGNALLED, max_idle_restarts=1) == AGAIN
    fail(tmp_path, DIES, max_idle_restarts=1)


def test_a_stop_file_that_somebody_makes_cancels_the_point(tmp_path):
    assert keep(tmp_path, f"touch stop; {HEARS}") == 0
    assert events_of(tmp_path)[-1] == ("cancelled", 0, f"somebody made {tmp_path}/stop")


def test_a_stop_file_that_an_earlier_attempt_has_left_stops_nobody(tmp_path):
    (tmp_path / "stop").touch()
    assert keep(tmp_path, "[ ! -e stop ]") == 0


def test_an_attempt_that_another_has_superseded_gives_up_and_writes_nothing_more(tmp_path):
    script = f"echo $$ > pid; {adds('started', '8#0')}; exec sleep 60"
    assert keep(tmp_path, script) == 75
    assert [kind for kind, *_ in events_of(tmp_path)] == ["started", "started"]
    assert not is_alive(int((tmp_path / "pid").read_text()))
    begun(tmp_path, "9#0")  # whoever begins later is the owner, and not given up
    assert keep(tmp_path, "exit 0") == 0


def test_slurm_is_asked_to_queue_a_job_again_and_then_ends_its_tasks(
    tmp_path, monkeypatch, commands
):
    calls = commands("scontrol", "echo JobState=RUNNING")
    monkeypatch.setenv("SUBMITIT_EXECUTOR", "slurm")
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "40")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    assert keep(tmp_path, SIGNALLED, kind="slurm") == 75
    assert calls.read_text().splitlines() == ["--oneliner show job 7", "requeue 40_3"]


def test_a_job_that_slurm_has_ended_leaves_it_to_slurm_whether_another_follows(tmp_path, commands):
    calls = commands("scontrol", "echo JobState=COMPLETING")
    assert keep(tmp_path, SIGNALLED, kind="slurm") == 0
    assert events_of(tmp_path)[-1] == ("broken off", 0, "")
    assert "requeue" not in calls.read_text()
