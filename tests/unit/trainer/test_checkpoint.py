"""Checkpoints: complete or absent, kept by count and by time, and checked before they are read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from toolorchestra.trainer.checkpoint import RECORD, STATE, Checkpoints, next_step_of

WRITER = {"trainer.zero_stage": 2, "layers": 4}


def write(path):
    path.mkdir()
    (path / "weights").write_bytes(b"w" * 100)
    (path / "optimizer").write_bytes(b"o" * 200)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def checkpoints_in(folder, *, keep=1, writer=WRITER, **options):
    return Checkpoints(folder, keep=keep, writer=writer, **options)


def test_the_newest_are_kept_by_number_not_by_name(tmp_path):
    checkpoints = checkpoints_in(tmp_path / "c", keep=2)
    for step in (5, 999_999, 1_000_000):
        checkpoints.save(step, write)
    assert names(tmp_path / "c") == ["step_1000000", "step_999999"]
    newest = checkpoints.newest()
    assert newest == checkpoints.paths()[-1]
    assert next_step_of(newest) == 1_000_000


def test_of_older_ones_one_is_kept_for_each_stretch_of_time(tmp_path, monkeypatch):
    checkpoints = checkpoints_in(tmp_path, keep=1, keep_one_every_s=3600)
    for step in range(8):
        # one every 20 minutes: of the older seven those at 0, 60 and 120 minutes stay
        monkeypatch.setattr(time, "time", lambda step=step: 1200.0 * step)
        checkpoints.save(step, write)
    assert [next_step_of(path) for path in checkpoints.paths()] == [0, 3, 6, 7]


def test_without_a_folder_there_is_no_checkpoint(tmp_path):
    checkpoints = checkpoints_in(tmp_path / "none")
    assert checkpoints.paths() == []
    assert checkpoints.newest() is None
    assert not (tmp_path / "none").exists()


def test_other_files_are_no_checkpoints_and_stay(tmp_path):
    (tmp_path / "step_7.bak").touch()
    (tmp_path / "notes.tmp").touch()
    checkpoints = checkpoints_in(tmp_path)
    checkpoints.save(1, write)
    checkpoints.save(2, write)
    assert names(tmp_path) == ["notes.tmp", "step_000002", "step_7.bak"]


def test_one_that_is_saved_again_replaces_the_first(tmp_path):
    checkpoints = checkpoints_in(tmp_path)
    checkpoints.save(1, write)
    checkpoints.save(1, lambda path: path.write_bytes(b"other"))
    assert (tmp_path / "step_000001" / STATE).read_bytes() == b"other"


def test_a_write_that_fails_leaves_no_checkpoint_and_the_old_one(tmp_path):
    checkpoints = checkpoints_in(tmp_path)
    first = checkpoints.save(1, write)

    def break_down(path):
        path.write_bytes(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        checkpoints.save(2, break_down)
    assert checkpoints.paths() == [first]
    assert checkpoints.newest() == first


def test_a_process_killed_while_writing_leaves_nothing_that_looks_complete(tmp_path):
    code = """
        import os, signal, sys
        from pathlib import Path
        from toolorchestra.trainer.checkpoint import Checkpoints

        def write(path):
            path.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)

        Checkpoints(Path(sys.argv[1]), keep=2, writer={}).save(3, write)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    checkpoints = checkpoints_in(tmp_path, keep=2)
    assert names(tmp_path) == ["step_000003.tmp"]
    assert checkpoints.newest() is None
    checkpoints.save(4, write)
    assert names(tmp_path) == ["step_000004"]


def test_a_checkpoint_gets_its_name_only_when_all_is_on_disk(tmp_path, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("sync"), sync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append("rename"), replace(a, b)))
    checkpoints_in(tmp_path).save(1, write)
    # two files, their folder, the record, the whole; its new name; the folder of all
    assert events == ["sync"] * 5 + ["rename", "sync"]


def test_only_the_first_rank_makes_and_marks_and_each_waits_for_the_others(tmp_path):
    events = []
    others = checkpoints_in(tmp_path)
    others.save(
        3, lambda path: events.append("write"), is_first=False, wait=lambda: events.append("wait")
    )
    assert events == ["wait", "write", "wait"]
    assert names(tmp_path) == []


@pytest.mark.parametrize("size", [0, 99, 101])
def test_a_damaged_file_is_refused_with_advice(tmp_path, size):
    checkpoints = checkpoints_in(tmp_path)
    path = checkpoints.save(1, write)
    (path / STATE / "weights").write_bytes(b"w" * size)
    with pytest.raises(
        ValueError, match=rf"step_000001 is damaged \(state/weights has {size} of 100 .*delete it"
    ):
        checkpoints.newest()


def test_a_file_that_is_gone_is_damage_too(tmp_path):
    checkpoints = checkpoints_in(tmp_path)
    (checkpoints.save(1, write) / STATE / "optimizer").unlink()
    with pytest.raises(ValueError, match="state/optimizer has 0 of 200 bytes"):
        checkpoints.newest()


@pytest.mark.parametrize("record", [None, "", "[1]", "{}", "{"])
def test_a_folder_of_another_program_is_refused(tmp_path, record):
    folder = tmp_path / "step_000001"
    folder.mkdir()
    if record is not None:
        (folder / RECORD).write_text(record)
    with pytest.raises(ValueError, match="was not written by this program"):
        checkpoints_in(tmp_path).newest()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"trainer.zero_stage": 3}, "was written with trainer.zero_stage 2, not 3"),
        ({"layers": 2}, "was written with layers 4, not 2"),
    ],
)
def test_one_of_another_trainer_or_model_is_refused_with_both_values(tmp_path, change, told):
    checkpoints_in(tmp_path).save(1, write)
    with pytest.raises(ValueError, match=told):
        checkpoints_in(tmp_path, writer=WRITER | change).newest()


def test_the_record_says_where_it_goes_on_and_what_belongs_to_it(tmp_path):
    path = checkpoints_in(tmp_path).save(12, write)
    record = json.loads((path / RECORD).read_text())
    assert record["next_step"] == 12 == next_step_of(path)
    assert record["files"] == {"state/optimizer": 200, "state/weights": 100}
    with pytest.raises(ValueError, match="is no checkpoint"):
        next_step_of(tmp_path / "last")
