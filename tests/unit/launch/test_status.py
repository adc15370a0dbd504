"""What a point's state is, from what it left on disk and what the cluster says of its job."""

from __future__ import annotations

import pytest
from tests.unit.launch.scene import make_sweep

from toolorchestra.launch.cluster import JobState
from toolorchestra.launch.job.journal import Journal
from toolorchestra.launch.status import count_states, statuses
from toolorchestra.launch.sweep import run_dir_of

QUEUED = JobState(kind="queued", detail="Priority")
RUNNING = JobState(kind="running")
GONE = JobState(kind="ended", detail="no longer known")


class Jobs:
    """A cluster whose jobs fare as they are told to."""

    def __init__(self, **states):
        self.states_of, self.asked = states, None

    def states(self, job_ids):
        self.asked = list(job_ids)
        return {job_id: self.states_of[job_id] for job_id in job_ids}


def write(run_dir, *events):
    """`write(run_dir, ("started", "a#0"), ("failed", "a#0", "no disk"))`"""
    for kind, attempt, *reason in events:
        Journal(run_dir).write(kind, attempt, step=0, host="n1", reason="".join(reason))


@pytest.fixture
def fares(tmp_path):
    """`fares(job, *events, files=("summary.json",))`: how a point fares whose last job is b."""

    def look(job, *events, files=()):
        sweep = make_sweep(tmp_path, ("seed=1",), job_ids={0: "a"}).submitted({0: "b"})
        run_dir = run_dir_of(tmp_path, sweep.points[0])
        write(run_dir, *events)
        for name in files:
            (run_dir / name).parent.mkdir(exist_ok=True)
            (run_dir / name).touch()
        (status,) = statuses(tmp_path, sweep, Jobs(b=job))
        return status.state, status.reason

    return look


@pytest.mark.parametrize(
    ("job", "state", "reason"),
    [
        (QUEUED, "queued", "Priority"),
        (RUNNING, "running", ""),
        (JobState(kind="running", detail="COMPLETING"), "running", "COMPLETING"),
        (GONE, "lost", "no longer known"),
        (JobState(kind="ended", detail="NODE_FAIL"), "lost", "NODE_FAIL"),
        (JobState(kind="ended", detail="CANCELLED"), "cancelled", "CANCELLED"),
    ],
)
def test_a_point_that_has_written_nothing_fares_as_its_job_does(fares, job, state, reason):
    assert fares(job) == (state, reason)


@pytest.mark.parametrize("job", [QUEUED, RUNNING, GONE])
def test_a_summary_is_the_end_whatever_else_is_said(fares, job):
    events = [("started", "b#0"), ("failed", "b#0", "no disk")]
    assert fares(job, *events, files=["summary.json"]) == ("finished", "")


@pytest.mark.parametrize("job", [RUNNING, GONE])
def test_a_failure_is_told_with_its_reason_before_the_job_is_gone(fares, job):
    events = [("started", "b#0"), ("failed", "b#0", "error: no disk")]
    assert fares(job, *events) == ("failed", "error: no disk")


def test_a_failure_of_an_older_job_does_not_count_after_the_point_was_submitted_again(fares):
    events = [("started", "a#0"), ("failed", "a#0", "error: no disk")]
    assert fares(QUEUED, *events) == ("queued", "Priority")


def test_a_cancellation_of_an_older_job_does_not_count_either(fares):
    assert fares(RUNNING, ("cancelled", "a"), ("started", "b#0")) == ("running", "")


def test_what_an_older_job_still_writes_does_not_hide_how_the_newest_ended(fares):
    events = [("failed", "b#0", "error: no disk"), ("crashed", "a#0", "late")]
    assert fares(GONE, *events) == ("failed", "error: no disk")


@pytest.mark.parametrize(
    "events",
    [
        [("started", "b#0"), ("cancelled", "b", "by command")],
        [("cancelled", "b", "by command")],
        [("started", "b#0"), ("cancelled", "b", "by command"), ("broken off", "b#0")],
        [("started", "b#0"), ("cancelled", "b", "by command"), ("failed", "b#0", "lost the rest")],
    ],
)
@pytest.mark.parametrize("job", [RUNNING, GONE])
def test_a_point_that_was_cancelled_stays_so_whatever_its_job_still_writes(fares, job, events):
    assert fares(job, *events) == ("cancelled", "by command")


@pytest.mark.parametrize(
    ("kind", "reason", "told"),
    [
        ("preempted", "", "preempted"),
        ("crashed", "rank 1 died", "crashed rank 1 died"),
        ("timed out", "ran for the 60 minutes it had", "timed out ran for the 60 minutes it had"),
    ],
)
def test_a_job_that_was_queued_again_says_why(fares, kind, reason, told):
    assert fares(QUEUED, ("started", "b#0"), (kind, "b#0", reason)) == ("queued", told)


def test_a_job_that_runs_again_no_longer_says_why_it_was_queued(fares):
    assert fares(RUNNING, ("started", "b#0"), ("crashed", "b#0", "rank 1 died")) == ("running", "")


def test_points_that_were_never_submitted_wait_and_nobody_is_asked_of_them(tmp_path):
    sweep = make_sweep(tmp_path, ("seed=1",), ("seed=2",), ("seed=3",), job_ids={1: "a"})
    write(tmp_path / "2", ("cancelled", "", "by command"))
    jobs = Jobs(a=RUNNING)
    points = statuses(tmp_path, sweep, jobs)
    assert [status.state for status in points] == ["waiting", "running", "cancelled"]
    assert jobs.asked == ["a"]
    assert count_states(points) == "1 waiting, 1 running, 1 cancelled"


def test_steps_and_attempts_are_counted_over_all_jobs_of_a_point(tmp_path):
    sweep = make_sweep(tmp_path, ("seed=1",), job_ids={0: "a"}).submitted({0: "b"})
    begun = [("started", "a#0"), ("crashed", "a#0"), ("started", "a#1"), ("started", "b#0")]
    write(tmp_path / "0", *begun)
    for name in ("step_000020", "step_000003", "step_000030.tmp"):
        (tmp_path / "0/checkpoints" / name).mkdir(parents=True)
    (status,) = statuses(tmp_path, sweep, Jobs(b=RUNNING))
    assert (status.step, status.attempts) == (20, 3)
    assert status.log == tmp_path / "0/job/log.txt"


def test_a_cluster_that_does_not_answer_is_not_taken_for_one_without_jobs(tmp_path):
    class Silent:
        def states(self, job_ids):
            raise ConnectionError("no answer")

    sweep = make_sweep(tmp_path, ("seed=1",), job_ids={0: "a"})
    with pytest.raises(ConnectionError):
        statuses(tmp_path, sweep, Silent())


def test_states_are_counted_in_the_order_of_the_points(tmp_path):
    sweep = make_sweep(tmp_path, *[()] * 3, job_ids={0: "a", 1: "b", 2: "c"})
    points = statuses(tmp_path, sweep, Jobs(a=RUNNING, b=QUEUED, c=RUNNING))
    assert count_states(points) == "2 running, 1 queued"


@pytest.mark.parametrize(
    ("detail", "state"), [("no longer known", "cancelled"), ("TIMEOUT", "lost")]
)
def test_a_job_that_was_ended_from_outside_and_is_forgotten_was_cancelled(fares, detail, state):
    """Where no accounts are kept: were it lost, it would be submitted again."""
    job = JobState(kind="ended", detail=detail)
    assert fares(job, ("started", "b#0"), ("broken off", "b#0"))[0] == state
