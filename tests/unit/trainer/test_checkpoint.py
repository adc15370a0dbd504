import os
import signal
import subprocess
import sys
import textwrap

import pytest
import torch

from toolorchestra.trainer.checkpoint import Checkpoints, check_readable, next_step_of


def write(path):
    torch.save({"toolorchestra": {"next_step": 1}, "weights": torch.ones(3)}, path)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_newest_are_kept_by_number_not_by_name(tmp_path):
    checkpoints = Checkpoints(tmp_path / "c", keep=2)
    for step in (5, 999_999, 1_000_000):
        checkpoints.save(step, write)
    assert names(tmp_path / "c") == ["step_1000000.ckpt", "step_999999.ckpt"]
    newest = checkpoints.newest()
    assert newest == checkpoints.paths()[-1]
    assert next_step_of(newest) == 1_000_000


def test_without_a_folder_there_is_no_checkpoint(tmp_path):
    checkpoints = Checkpoints(tmp_path / "none", keep=1)
    assert checkpoints.paths() == []
    assert checkpoints.newest() is None
    assert not (tmp_path / "none").exists()


def test_other_files_are_no_checkpoints_and_stay(tmp_path):
    (tmp_path / "step_7.ckpt.bak").touch()
    (tmp_path / "notes.tmp").touch()
    checkpoints = Checkpoints(tmp_path, keep=1)
    checkpoints.save(1, write)
    checkpoints.save(2, write)
    assert names(tmp_path) == ["notes.tmp", "step_000002.ckpt", "step_7.ckpt.bak"]


def test_a_write_that_fails_leaves_no_checkpoint_and_the_old_one(tmp_path):
    checkpoints = Checkpoints(tmp_path, keep=1)
    first = checkpoints.save(1, write)

    def break_down(path):
        path.write_bytes(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        checkpoints.save(2, break_down)
    assert checkpoints.paths() == [first]
    check_readable(first)


def test_a_process_killed_while_writing_leaves_nothing_that_looks_complete(tmp_path):
    code = """
        import os, signal, sys
        from pathlib import Path
        from toolorchestra.trainer.checkpoint import Checkpoints

        def write(path):
            path.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)

        Checkpoints(Path(sys.argv[1]), keep=2).save(3, write)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    checkpoints = Checkpoints(tmp_path, keep=2)
    assert names(tmp_path) == ["step_000003.tmp"]
    assert checkpoints.newest() is None
    checkpoints.save(4, write)
    assert names(tmp_path) == ["step_000004.ckpt"]


def test_a_checkpoint_gets_its_name_only_when_all_is_on_disk(tmp_path, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("sync"), sync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append("rename"), replace(a, b)))
    Checkpoints(tmp_path, keep=1).save(1, write)
    assert events == ["sync", "rename", "sync"]  # the file, its new name, the folder


@pytest.mark.parametrize("damage", ["cut", "empty", "text"])
def test_a_damaged_file_is_refused_with_advice(tmp_path, damage):
    path = Checkpoints(tmp_path, keep=1).save(1, write)
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "text": b"hello"}[damage])
    with pytest.raises(ValueError, match=r"resume: .*step_000001.ckpt cannot be read .*delete it"):
        check_readable(path)


@pytest.mark.parametrize("content", [{"weights": torch.ones(1)}, torch.ones(1), [1, 2]])
def test_a_file_of_another_program_is_refused(tmp_path, content):
    path = tmp_path / "step_000001.ckpt"
    torch.save(content, path)
    with pytest.raises(ValueError, match="was not written by this program"):
        check_readable(path)


def test_a_whole_checkpoint_is_readable_and_others_names_are_refused(tmp_path):
    path = Checkpoints(tmp_path, keep=1).save(12, write)
    check_readable(path)
    assert next_step_of(path) == 12
    with pytest.raises(ValueError, match="is no checkpoint"):
        next_step_of(tmp_path / "last.ckpt")
