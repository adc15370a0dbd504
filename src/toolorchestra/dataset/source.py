"""From a dataset's config to tasks by index, whatever their kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.dataset.cycle import Cycle
from toolorchestra.dataset.domains import domain_source
from toolorchestra.dataset.jsonl import read_tasks
from toolorchestra.dataset.local import local_task
from toolorchestra.dataset.mix import Mixture, mixed, named
from toolorchestra.dataset.split import Split, digest, side_of
from toolorchestra.dataset.table import TableTasks, table_tasks
from toolorchestra.dataset.tau2 import tau2_tasks
from toolorchestra.types import Task

TaskSource = Callable[[int, Split], Task]
"""Gives task number `index` of a split; any index from 0 up will do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Present:
    """Who is there in a run: tasks that need somebody else are left out."""

    judges_free_text: bool = False
    """Somebody judges answers that no matcher can check."""
    plays_user: bool = False
    """Somebody acts for the user of a domain's task."""


def local_source(config: DatasetConfig, seed: int, _: Present) -> TaskSource:
    """Draws from the local world."""
    return lambda index, split: local_task(index, seed=seed, split=split, skills=config.skills)


def _split_file(config: DatasetConfig) -> dict[Split, list[Task]]:
    assert config.path is not None
    tasks = read_tasks(config.path)
    if config.heldout_path is None:
        sides = [side_of(task.question, num_parts=config.num_parts) for task in tasks]
        return {
            split: [task for task, side in zip(tasks, sides, strict=True) if side == split]
            for split in config.splits
        }
    heldout = read_tasks(config.heldout_path)
    if shared := {task.question for task in tasks} & {task.question for task in heldout}:
        raise ValueError(
            f"dataset.heldout_path: {config.heldout_path} shares {len(shared)} questions with "
            f"{config.path}, e.g. {min(shared)[:60]!r}; remove them from one of the two files"
        )
    return {"train": list(tasks), "heldout": list(heldout)}


def jsonl_source(config: DatasetConfig, seed: int, _: Present) -> TaskSource:
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
    return Cycle(parts=parts)


def table_source(config: DatasetConfig, seed: int, present: Present) -> TaskSource:
    """Goes through the rows of a table whose answers can be checked, in the same way."""
    assert config.table is not None
    return table_tasks(
        config.name,
        config.table,
        seed=seed,
        takes_free_text=present.judges_free_text,
        num_parts=config.num_parts,
    )


def mix_source(config: DatasetConfig, seed: int, present: Present) -> TaskSource:
    """Draws from several sources by weight."""
    weights = {name: weight for name, weight in config.weights.items() if weight}
    sources = {
        name: make_source(config.sources[name], seed=seed, present=present) for name in weights
    }
    return mixed(sources, weights, seed=seed)


def goal_source(config: DatasetConfig, seed: int, present: Present) -> TaskSource:
    """Goes through the goals of domains."""
    assert config.domain is not None
    return domain_source(
        config.domain, seed=seed, num_parts=config.num_parts, has_user=present.plays_user
    )


def tau2_source(config: DatasetConfig, seed: int, _: Present) -> TaskSource:
    """Goes through tasks of tau2-bench."""
    assert config.tau2 is not None
    return tau2_tasks(config.tau2, seed=seed)


SOURCES: dict[str, Callable[[DatasetConfig, int, Present], TaskSource]] = {
    "local": local_source,
    "jsonl": jsonl_source,
    "table": table_source,
    "mix": mix_source,
    "domain": goal_source,
    "tau2": tau2_source,
}


def make_source(config: DatasetConfig, *, seed: int, present: Present = Present()) -> TaskSource:
    """The tasks that `config` asks for.

    Args:
        config: Checked already.
        seed: Of what is drawn, or of the order.
        present: Whom tasks may need.

    Raises:
        ValueError: a file of tasks is missing or faulty, with file and line, or a table is.
    """
    return SOURCES[config.kind](config, seed, present)


def every_task(source: TaskSource, split: Split) -> list[Task] | None:
    """Each task of a split once; None where the source draws without end."""
    if isinstance(source, Cycle):
        return list(source.parts[split])
    if isinstance(source, TableTasks):
        return [source(index, split) for index in range(len(source.rows[split]))]
    if not isinstance(source, Mixture):
        return None
    found: list[Task] = []
    for name, part in source.sources.items():
        tasks = every_task(part, split)
        if tasks is None:
            return None
        found += (named(name, task) for task in tasks)
    return found
