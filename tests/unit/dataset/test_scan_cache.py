"""What a scan found is read back where nothing that it depends on has changed, and never else."""

import logging
import os
import stat
from pathlib import Path

import datasets
import numpy as np
import pytest
from tests.unit.dataset.tables import config, parquet, rows

from toolorchestra.dataset import scan_cache
from toolorchestra.dataset.source import Present, every_task, make_source

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def scans(monkeypatch):
    """How often a table was read through."""
    asked = []

    def counted(table, **options):
        asked.append(options)
        return real(table, **options)

    real = scan_cache.scan_table
    monkeypatch.setattr(scan_cache, "scan_table", counted)
    return asked


def kept():
    return sorted((Path(datasets.config.HF_DATASETS_CACHE) / scan_cache.FOLDER).iterdir())


def tasks(source):
    return [every_task(source, split) for split in ("train", "heldout")]


def test_the_second_run_scans_nothing_and_draws_the_same(tmp_path, scans):
    table = config(parquet(tmp_path / "t.parquet", [*rows(60), *rows(3)]))
    first, second = make_source(table, seed=1), make_source(table, seed=1)
    assert len(scans) == 1 and len(kept()) == 1
    assert tasks(first) == tasks(second)
    assert first.left_out == second.left_out == {"whose question came before": 3}
    assert tasks(make_source(table, seed=2)) != tasks(first), "the order is the seed's"
    assert len(scans) == 1


def test_what_the_scan_depends_on_is_scanned_anew(tmp_path, scans, monkeypatch):
    path = parquet(tmp_path / "t.parquet", rows(60))
    make_source(config(path), seed=1)
    make_source(config(path), seed=1, present=Present(judges_free_text=True))
    make_source(config(path, empty=[]), seed=1)
    make_source(config(path, question="reference_answer", answer="question"), seed=1)
    monkeypatch.setattr(scan_cache, "_code", lambda: "other rules")
    make_source(config(path), seed=1)
    assert len(scans) == len(kept()) == 5


def test_a_file_that_changed_in_place_is_scanned_anew(tmp_path, scans):
    table = config(parquet(tmp_path / "t.parquet", rows(60)))
    before = make_source(table, seed=1)
    parquet(tmp_path / "t.parquet", rows(60, start=100))
    after = make_source(table, seed=1)
    assert len(scans) == 2
    questions = {task.question for split in tasks(after) for task in split}
    assert not questions & {task.question for split in tasks(before) for task in split}


def test_the_mark_of_the_rules_changes_with_their_code(tmp_path, monkeypatch):
    before = scan_cache._code.__wrapped__()
    changed = tmp_path / "split.py"
    changed.write_text(Path(scan_cache.split.__file__).read_text() + "\n# another rule\n")
    monkeypatch.setattr(scan_cache.split, "__file__", str(changed))
    assert scan_cache._code.__wrapped__() != before


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def empty(path):
    path.write_bytes(b"")


def flip(path):
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(bytes(content))


def text(path):
    path.write_text("not what was kept")


def without_rows(path):
    with np.load(path) as arrays:
        others = {name: arrays[name] for name in arrays.files if name != "rows"}
    np.savez(path, **others)


def of_different_lengths(path):
    with np.load(path) as arrays:
        np.savez(path, **(dict(arrays) | {"rows": np.arange(3)}))


def pickled(path):
    with np.load(path) as arrays:
        np.savez(path, **(dict(arrays) | {"rows": np.array([{}], dtype=object)}))


@pytest.mark.parametrize(
    "damage", [cut, empty, flip, text, without_rows, of_different_lengths, pickled]
)
def test_a_damaged_file_is_told_and_the_table_scanned_again(tmp_path, scans, caplog, damage):
    caplog.set_level(logging.INFO)
    table = config(parquet(tmp_path / "t.parquet", rows(60)))
    first = make_source(table, seed=1)
    (path,) = kept()
    damage(path)
    assert tasks(make_source(table, seed=1)) == tasks(first)
    assert len(scans) == 2 and "is damaged" in caplog.text
    make_source(table, seed=1)
    assert len(scans) == 2, "it was written anew"


def test_what_is_broken_off_while_it_is_written_leaves_nothing(tmp_path, scans, monkeypatch):
    def broken(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    table = config(parquet(tmp_path / "t.parquet", rows(60)))
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", broken)
        with pytest.raises(KeyboardInterrupt):
            make_source(table, seed=1)
    assert kept() == []
    make_source(table, seed=1)
    assert len(scans) == 2 and len(kept()) == 1


def test_where_nothing_can_be_written_the_run_goes_on_and_says_so(tmp_path, scans, caplog):
    caplog.set_level(logging.INFO)
    table = config(parquet(tmp_path / "t.parquet", rows(60)))
    folder = Path(datasets.config.HF_DATASETS_CACHE) / scan_cache.FOLDER
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file is in the way")
    assert make_source(table, seed=1)(0, "train").answer
    assert "cannot be written" in caplog.text and len(scans) == 1


def test_others_may_not_write_to_what_is_kept(tmp_path):
    make_source(config(parquet(tmp_path / "t.parquet", rows(60))), seed=1)
    (path,) = kept()
    assert not stat.S_IMODE(os.stat(path).st_mode) & 0o022
