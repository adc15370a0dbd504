"""From a dataset's config to tasks by index, whatever their kind."""

from __future__ import annotations

from collections.abc import Callable

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.dataset.jsonl import read_tasks
from toolorchestra.dataset.local import local_task
from toolorchestra.dataset.split import SPLITS, Split, digest, side_of
from toolorchestra.types import Task

TaskSource = Callable[[int, Split], Task]
"""Gives task number `index` of a split; any index from 0 up will do."""

_NUM_PARTS = 5
"""One part in five of a file of tasks is held out where no second file is given."""


def local_source(config: DatasetConfig, seed: int) -> TaskSource:
    """Draws from the local world."""
    return lambda index, split: local_task(index, seed=seed, split=split, skills=config.skills)


def _split_file(config: DatasetConfig) -> dict[Split, list[Task]]:
    assert config.path is not None
    tasks = read_tasks(config.path)
    if config.heldout_path is None:
        sides = [side_of(task.question, num_parts=_NUM_PARTS) for task in tasks]
        return {
            split: [task for task, side in zip(tasks, sides, strict=True) if side == split]
            for split in SPLITS
        }
    heldout = read_tasks(config.heldout_path)
    if shared := {task.question for task in tasks} & {task.question for task in heldout}:
        raise ValueError(
            f"dataset.heldout_path: {config.heldout_path} shares {len(shared)} questions with "
            f"{config.path}, e.g. {min(shared)[:60]!r}; remove them from one of the two files"
        )
    return {"train": list(tasks), "heldout": list(heldout)}


def jsonl_source(config: DatasetConfig, seed: int) -> TaskSource:
    """Goes through a file of tasks round and round, in an order that depends on the seed.

    Raises:
        ValueError: the file is faulty, or leaves one of the two splits empty.
    """
    parts = _split_file(config)
    for split, tasks in parts.items():
        if not tasks:
            raise ValueError(
                f"dataset.path: {config.path} leaves no task for the split {split}; "
                "add tasks, or name a second file in dataset.heldout_path"
            )
        tasks.sort(key=lambda task: digest(f"{seed}/{task.id}"))
    return lambda index, split: parts[split][index % len(parts[split])]


SOURCES: dict[str, Callable[[DatasetConfig, int], TaskSource]] = {
    "local": local_source,
    "jsonl": jsonl_source,
}


def make_source(config: DatasetConfig, *, seed: int) -> TaskSource:
    """The tasks that `config` asks for.

    Raises:
        ValueError: a file of tasks is missing or faulty, with file and line.
    """
    return SOURCES[config.kind](config, seed)
