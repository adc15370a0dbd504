import pytest

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.dataset.jsonl import write_tasks
from toolorchestra.dataset.local import local_task
from toolorchestra.dataset.source import make_source
from toolorchestra.types import Task


def write(path, start, count):
    write_tasks(
        path,
        [
            Task(id=f"t{i}", skill="math", question=f"{i} + 1?", answer=str(i + 1))
            for i in range(start, start + count)
        ],
    )
    return str(path)


def all_of(source, split, count):
    return [source(index, split).id for index in range(count)]


def test_the_local_source_draws_local_tasks():
    config = DatasetConfig(name="local", skills={"code": 1.0})
    drawn = make_source(config, seed=3)(7, "heldout")
    assert drawn == local_task(7, seed=3, split="heldout", skills={"code": 1.0})


def test_one_file_is_split_without_overlap_and_without_loss(tmp_path):
    path = write(tmp_path / "tasks.jsonl", 0, 100)
    source = make_source(DatasetConfig(name="x", kind="jsonl", path=path), seed=0)
    train, heldout = set(all_of(source, "train", 200)), set(all_of(source, "heldout", 200))
    assert not train & heldout
    assert len(train | heldout) == 100
    assert 8 < len(heldout) < 35


def test_a_file_is_gone_through_once_before_a_task_repeats(tmp_path):
    config = DatasetConfig(
        name="x",
        kind="jsonl",
        path=write(tmp_path / "a.jsonl", 0, 10),
        heldout_path=write(tmp_path / "b.jsonl", 10, 3),
    )
    source = make_source(config, seed=0)
    assert len(set(all_of(source, "train", 10))) == 10
    assert all_of(source, "train", 10) == [source(i + 10, "train").id for i in range(10)]
    assert all_of(source, "train", 10) != all_of(make_source(config, seed=1), "train", 10)
    assert set(all_of(source, "heldout", 3)) == {"t10", "t11", "t12"}


def test_questions_in_both_files_are_refused(tmp_path):
    config = DatasetConfig(
        name="x",
        kind="jsonl",
        path=write(tmp_path / "a.jsonl", 0, 10),
        heldout_path=write(tmp_path / "b.jsonl", 9, 3),
    )
    with pytest.raises(ValueError, match=r"heldout_path: .*shares 1 questions .*'9 \+ 1\?'"):
        make_source(config, seed=0)


def test_a_file_too_small_to_split_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", 0, 1)
    with pytest.raises(ValueError, match="leaves no task for the split"):
        make_source(DatasetConfig(name="x", kind="jsonl", path=path), seed=0)
