"""What befell a point reads back as it was written, whoever was killed while writing."""

from __future__ import annotations

import json
import time

import pytest

from toolorchestra.launch.job.journal import CRASHED, FAILED, STARTED, Event, Journal


def write(journal, kind, attempt, **fields):
    journal.write(kind, attempt, **({"step": 0, "host": "n1"} | fields))


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "3")


def test_events_read_back_in_order_with_the_time_they_were_written(journal, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 12.5)
    write(journal, STARTED, "7_1#0", port=4000)
    write(journal, FAILED, "7_1#0", step=20, host="n2", reason='it said "no"\n')
    assert journal.read() == [
        Event(kind="started", attempt="7_1#0", time_s=12.5, step=0, host="n1", port=4000),
        Event(
            kind="failed", attempt="7_1#0", time_s=12.5, step=20, host="n2",
            reason='it said "no"\n',
        ),
    ]  # fmt: skip
    assert journal.last() == journal.read()[1]
    assert journal.folder.name == "job" and journal.folder.parent.name == "3"


def test_a_point_that_was_never_begun_has_no_events_and_no_owner(journal):
    assert journal.read() == []
    assert journal.last() is None
    assert journal.owner() == ""
    assert not journal.folder.exists(), "reading makes nothing"


def test_a_line_that_is_being_written_is_left_out(journal):
    write(journal, STARTED, "7#0")
    with (journal.folder / "events.jsonl").open("a") as file:
        file.write('{"kind": "crashed", "atte')
    assert [event.kind for event in journal.read()] == [STARTED]


def test_a_line_that_was_cut_by_a_kill_spoils_none_that_is_written_later(journal):
    write(journal, STARTED, "7#0")
    with (journal.folder / "events.jsonl").open("a") as file:
        file.write('{"kind": "crashed", "atte')
    write(journal, STARTED, "7#1", step=5)
    assert [(event.attempt, event.step) for event in journal.read()] == [("7#0", 0), ("7#1", 5)]


def test_a_journal_of_something_else_is_told_from_one_that_was_cut(journal):
    journal.folder.mkdir(parents=True)
    (journal.folder / "events.jsonl").write_text(json.dumps({"kind": "started"}) + "\n")
    with pytest.raises(ValueError, match="key 'attempt' is missing"):
        journal.read()


def test_a_point_belongs_to_the_attempt_that_began_last_whatever_others_add(journal):
    write(journal, STARTED, "7#0")
    write(journal, STARTED, "9#0")
    write(journal, CRASHED, "7#0")
    assert journal.owner() == "9#0"
    assert journal.last().attempt == "7#0"


@pytest.mark.parametrize(
    ("attempt", "job_id"), [("7_12#3", "7_12"), ("7#0", "7"), ("", ""), ("7", "7")]
)
def test_an_attempt_names_its_job(journal, attempt, job_id):
    write(journal, STARTED, attempt)
    assert journal.last().job_id == job_id
