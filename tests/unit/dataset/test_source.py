import pytest

from toolorchestra.dataset.config import DatasetConfig, DomainsConfig
from toolorchestra.dataset.jsonl import write_tasks
from toolorchestra.dataset.local import local_task
from toolorchestra.dataset.source import Present, every_task, make_source
from toolorchestra.dataset.split import SPLITS
from toolorchestra.domain.load import SHIPPED, load_shipped
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


def test_every_task_of_a_file_is_given_once_in_the_order_of_drawing(tmp_path):
    path = write(tmp_path / "tasks.jsonl", 0, 60)
    source = make_source(DatasetConfig(name="x", kind="jsonl", path=path), seed=0)
    for split in SPLITS:
        found = [task.id for task in every_task(source, split)]
        assert found == all_of(source, split, len(found))
        assert (
            len(set(found)) == len(found) and all_of(source, split, len(found) + 1)[-1] == found[0]
        )


def test_every_held_out_task_of_the_domains_is_given_once():
    config = DatasetConfig(name="goals", kind="domain", domain=DomainsConfig())
    source = make_source(config, seed=1, present=Present(plays_user=True))
    tasks = {split: every_task(source, split) for split in SPLITS}
    ids = [task.id for split in SPLITS for task in tasks[split]]
    assert len(set(ids)) == len(ids) == sum(len(load_shipped(name).tasks) for name in SHIPPED)
    drawn = {source(index, "heldout").id for index in range(1000)}
    assert drawn == {task.id for task in tasks["heldout"]}, "under the names that drawing gives"


def test_a_world_without_end_and_a_mixture_with_one_have_no_last_task():
    local = DatasetConfig(name="local")
    goals = DatasetConfig(name="goals", kind="domain", domain=DomainsConfig())
    mix = DatasetConfig(
        name="m", kind="mix", sources={"l": local, "g": goals}, weights={"l": 1.0, "g": 1.0}
    )
    assert every_task(make_source(local, seed=1), "heldout") is None
    assert every_task(make_source(mix, seed=1), "heldout") is None
    mix.weights["l"] = 0.0
    found = every_task(make_source(mix, seed=1), "heldout")
    assert found and all(task.id.startswith(f"g/{task.skill}/") for task in found)
