"""A rank beside the first: it begins after the first, ends with it, and its death is reported."""

from __future__ import annotations

import json
import threading
import time

import pytest
from tests.unit.launch.attempts import adds, begun, other_rank, put_checkpoint
from tests.unit.launch.scene import in_a_task, is_alive, until

from toolorchestra.launch.job import other_rank as module
from toolorchestra.launch.job.journal import Journal
from toolorchestra.launch.job.other_rank import lost_rank


@pytest.fixture(autouse=True)
def looks_often(monkeypatch):
    monkeypatch.setattr(module, "LOOK_S", 0.01)


def keep(tmp_path, script, *, meanwhile=lambda: None):
    """Keeps a script as a task beside the first; from 0.1 s on, something happens meanwhile."""

    def run():
        threading.Timer(0.1, meanwhile).start()
        other_rank(tmp_path, script).keep()

    tmp_path.mkdir(exist_ok=True)
    in_a_task(run)


def log(tmp_path):
    path = tmp_path / "job/log.txt"
    return path.read_text() if path.exists() else None


def test_it_waits_for_the_first_and_is_told_where_that_listens(tmp_path):
    script = 'echo "$MASTER_ADDR:$MASTER_PORT $WORLD_SIZE $NODE_RANK $LOCAL_RANK"'
    keep(tmp_path, script, meanwhile=lambda: begun(tmp_path, host="n3", port=4000))
    assert log(tmp_path) == "n3:4000 2 0 1\n"
    assert [event.kind for event in Journal(tmp_path).read()] == ["started"], "it writes no event"


def test_what_an_earlier_attempt_has_begun_is_not_taken_for_its_own(tmp_path):
    begun(tmp_path, "7#9", host="old", port=1)
    keep(tmp_path, 'echo "$MASTER_ADDR"', meanwhile=lambda: begun(tmp_path, host="n3", port=4000))
    assert log(tmp_path) == "n3\n"


def test_where_the_first_has_ended_already_nothing_is_started(tmp_path):
    begun(tmp_path)
    Journal(tmp_path).write("failed", "7#0", step=0, host="n1")
    keep(tmp_path, "echo ran")
    assert log(tmp_path) is None


def test_where_the_point_has_finished_before_nothing_is_started(tmp_path):
    keep(tmp_path, "echo ran", meanwhile=(tmp_path / "summary.json").touch)
    assert log(tmp_path) is None


def test_a_first_task_that_never_begins_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    began = time.monotonic()
    keep(tmp_path, "echo ran")
    assert log(tmp_path) is None and time.monotonic() - began < 5


@pytest.mark.parametrize("kind", ["finished", "failed", "preempted", "crashed", "broken off"])
def test_it_ends_with_the_first_however_that_ends(tmp_path, kind):
    begun(tmp_path)
    keep(tmp_path, f"echo $$ > pid; {adds(kind)}; exec sleep 60")
    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert lost_rank(tmp_path, "7#0") == ""


def test_it_ends_when_another_attempt_begins(tmp_path):
    begun(tmp_path)
    keep(tmp_path, f"echo $$ > pid; {adds('started', '8#0')}; exec sleep 60")
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_a_rank_that_ends_well_is_not_reported(tmp_path):
    begun(tmp_path)
    keep(tmp_path, "echo done")
    assert lost_rank(tmp_path, "7#0") == ""


def test_signals_are_left_to_the_first(tmp_path):
    begun(tmp_path)
    keep(tmp_path, "kill -TERM $PPID; kill -USR2 $PPID; sleep 0.1; echo still here")
    assert log(tmp_path) == "still here\n"
    assert not (tmp_path / "stop").exists()


def test_a_death_is_reported_to_the_first_which_decides_what_follows(tmp_path):
    begun(tmp_path)

    def first():
        until(lambda: lost_rank(tmp_path, "7#0"))
        Journal(tmp_path).write("crashed", "7#0", step=0, host="n1")

    keep(tmp_path, "echo 'error: no memory'; exit 3", meanwhile=first)
    assert lost_rank(tmp_path, "7#0") == "rank 1 ended with status 3: error: no memory"
    assert lost_rank(tmp_path, "7#1") == "", "the next attempt begins with all ranks"


def test_a_death_that_the_first_does_not_react_to_fails_the_task(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_S", 0.1)
    begun(tmp_path)
    with pytest.raises(RuntimeError, match="^rank 1 ended with status -9$"):
        keep(tmp_path, "kill -KILL $$")
    record = json.loads((tmp_path / "job/lost_1.json").read_text())
    assert record == {"attempt": "7#0", "rank": 1, "status": -9, "said": "it said nothing"}


def test_without_any_journal_no_rank_is_lost(tmp_path):
    put_checkpoint(tmp_path, 3)
    assert lost_rank(tmp_path, "7#0") == ""
