"""What the first rank makes of others: an attempt that has not let go yet, and ranks that died."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest
from tests.unit.launch.attempts import (
    AGAIN,
    ATTEMPT,
    LOCAL,
    events_of,
    first_rank,
    place_of,
)
from tests.unit.launch.scene import in_a_task, is_alive, until

from toolorchestra.entry.run_dir import RUN_FILE, claim
from toolorchestra.launch.job import first_rank as module

RESUMES = (
    f"flock -n {RUN_FILE} true || {{ echo 'error: another process is still at work'; exit 1; }}"
)
"""Fails as training does in a folder that somebody holds."""


@pytest.fixture(autouse=True)
def as_a_job_that_looks_often(monkeypatch):
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    monkeypatch.setattr(module, "OWNER_S", 0.02)
    monkeypatch.setattr(module, "NOTICE_S", 0.5)
    for key, value in LOCAL.items():
        monkeypatch.setenv(key, value)


def keep_while_held(tmp_path, script, *, after=lambda held: None, **options):
    """Keeps a script in a folder that another holds; `after` it began 0.1 s ago, something happens.

    The file that is held is what `after` is called with.
    """
    (tmp_path / RUN_FILE).touch()
    before = len(events_of(tmp_path))

    def happen(held):
        until(lambda: len(events_of(tmp_path)) > before)
        time.sleep(0.1)
        after(held)

    def run():
        held = claim(tmp_path)
        threading.Thread(target=happen, args=[held], daemon=True).start()
        first_rank(tmp_path, script, **options).keep()

    try:
        in_a_task(run)
    except SystemExit as ended:
        return ended.code
    return 0


def keep_with_ranks(tmp_path, script, **options):
    with pytest.raises(SystemExit) as ended:
        in_a_task(first_rank(tmp_path, script, place=place_of(num_ranks=2), **options).keep)
    return ended.value.code


def loses(rank, attempt=ATTEMPT):
    """A shell line that tells of a rank's death as its keeper does."""
    record = {"attempt": attempt, "rank": rank, "status": -9, "said": "error: no memory"}
    return f"echo '{json.dumps(record)}' > new; mv new job/lost_{rank}.json"


def test_an_attempt_waits_until_the_one_before_has_let_go_of_the_folder(tmp_path):
    assert keep_while_held(tmp_path, RESUMES, after=lambda held: held.close()) == 0
    begun, finished = module.Journal(tmp_path).read()
    assert finished.kind == "finished"
    assert finished.time_s - begun.time_s > 0.1


def test_a_folder_that_nobody_holds_is_not_waited_for(tmp_path):
    (tmp_path / RUN_FILE).touch()
    in_a_task(first_rank(tmp_path, RESUMES).keep)
    assert events_of(tmp_path)[-1][0] == "finished"


def test_an_attempt_that_never_lets_go_has_the_job_queued_again_and_at_last_fails_it(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "RELEASE_S", 0.05)
    assert keep_while_held(tmp_path, "touch ran", max_idle_restarts=1) == AGAIN
    why = "an attempt that was given up does not let go"
    assert events_of(tmp_path)[-1] == ("crashed", 0, why)
    with pytest.raises(RuntimeError, match=f"{why}; no new checkpoint after 1 restarts"):
        keep_while_held(tmp_path, "touch ran", max_idle_restarts=1)
    assert not (tmp_path / "ran").exists()


def test_a_job_that_is_signalled_while_it_waits_is_queued_again_without_training(tmp_path):
    code = keep_while_held(
        tmp_path, f"touch ran; {RESUMES}", after=lambda held: os.kill(os.getpid(), signal.SIGUSR2)
    )
    assert [kind for kind, *_ in events_of(tmp_path)] == ["started", "preempted"]
    assert code == AGAIN and not (tmp_path / "ran").exists()


def test_a_rank_that_another_reports_as_dead_ends_the_attempt_and_is_named(tmp_path):
    assert keep_with_ranks(tmp_path, f"echo $$ > pid; {loses(3)}; exec sleep 60") == AGAIN
    told = "rank 3 ended with status -9: error: no memory"
    assert events_of(tmp_path)[-1] == ("crashed", 0, told)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_a_fault_of_the_first_rank_is_blamed_on_the_rank_that_died_just_before(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "NOTICE_S", 15.0)
    script = f"(sleep 0.1; {loses(1)}) & echo 'error: connection closed by peer'; exit 1"
    assert keep_with_ranks(tmp_path, script) == AGAIN
    told = "rank 1 ended with status -9: error: no memory"
    assert events_of(tmp_path)[-1] == ("crashed", 0, told)


def test_a_rank_that_was_lost_in_an_earlier_attempt_is_not_blamed(tmp_path):
    script = f"{loses(1, attempt='7#9')}; echo 'error: bad loss'; exit 1"
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=r"^error: bad loss \(see "):
        in_a_task(first_rank(tmp_path, script, place=place_of(num_ranks=2)).keep)
    assert time.monotonic() - began > 0.5, "those that die are given time to be seen as dead"


def test_alone_nobody_else_is_waited_for_to_be_blamed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "NOTICE_S", 30.0)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="bad loss"):
        in_a_task(first_rank(tmp_path, "echo 'error: bad loss'; exit 1").keep)
    assert time.monotonic() - began < 10
