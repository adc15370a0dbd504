"""Which tasks a run trains on, and the worlds with the episodes that it is evaluated on."""

from __future__ import annotations

from toolorchestra.benchmark.contest import Arena
from toolorchestra.benchmark.world import World
from toolorchestra.build import build_sampler
from toolorchestra.config import PlayConfig
from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.dataset.cycle import Cycle
from toolorchestra.dataset.source import Present, TaskSource, every_task, make_source
from toolorchestra.worlds import worlds_of


def build_tasks(config: PlayConfig, dataset: DatasetConfig) -> TaskSource:
    """The tasks of a dataset, in the order that the run's seed gives.

    Raises:
        ValueError: A file or a table of it is missing or faulty.
    """
    present = Present(
        judges_free_text=config.judge.judges_free_text, plays_user=config.user.kind != "none"
    )
    return make_source(dataset, seed=config.seed, present=present)


def build_heldout(config: PlayConfig, tasks: TaskSource) -> TaskSource:
    """What the evaluation draws from; `tasks` are those of the run's own dataset.

    Raises:
        ValueError: The benchmark has tasks of its own, and these cannot be had.
    """
    if config.benchmark.is_off or config.heldout == config.dataset:
        return tasks
    return build_tasks(config, config.heldout)


def build_arenas(config: PlayConfig, tasks: TaskSource) -> list[Arena]:
    """The worlds of the evaluation with their episodes; `tasks` are what `build_heldout` gives.

    Raises:
        ValueError: Each task is to be played once, and there is no end to them.
    """
    arenas = []
    for name, toolset, pricing, asked in worlds_of(config):
        drawn, num_episodes = (tasks, asked) if asked is not None else _each_once(config, tasks)
        sampler = build_sampler(config, toolset, pricing, drawn, "heldout")
        arenas.append(
            Arena(
                name=name,
                world=World(
                    toolset,
                    horizon=config.benchmark.horizon,
                    has_domains=bool(config.heldout.domains),
                ),
                episodes=tuple(sampler(index) for index in range(num_episodes)),
            )
        )
    return arenas


def _each_once(config: PlayConfig, tasks: TaskSource) -> tuple[TaskSource, int]:
    """The held-out tasks one after the other, and how many there are."""
    found = every_task(tasks, "heldout")
    if found is None:
        raise ValueError(
            f"benchmark.num_episodes: null is not allowed with the dataset {config.heldout.name}, "
            "whose tasks have no end; use a number"
        )
    return Cycle(parts={"heldout": found}), len(found)
