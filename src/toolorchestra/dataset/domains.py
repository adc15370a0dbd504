"""Tasks of domains: goals to reach with their functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolorchestra.dataset.config import DomainsConfig
from toolorchestra.dataset.mix import mixed
from toolorchestra.dataset.split import SPLITS, Split, digest
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.types import Task


def domain_source(
    config: DomainsConfig, *, seed: int, num_parts: int
) -> Callable[[int, Split], Task]:
    """Goes through the tasks of each domain round and round, and draws the domain by weight.

    Args:
        config: The domains and difficulties.
        seed: Of the order, never of the split.
        num_parts: One task in so many of each difficulty is held out, chosen by a digest of the
            instruction.

    Raises:
        ValueError: A domain cannot be loaded, or has no task of these difficulties for one of
            the splits.
    """
    weights = {name: weight for name, weight in config.weights.items() if weight}
    catalogue = config.catalogue
    sources = {
        name: _source(catalogue.load(name), config.difficulties, seed=seed, num_parts=num_parts)
        for name in weights
    }
    return mixed(sources, weights, seed=seed)


def _source(
    domain: Domain, difficulties: Sequence[int], *, seed: int, num_parts: int
) -> Callable[[int, Split], Task]:
    levels = sorted({task.difficulty for task in domain.tasks.values()})
    parts: dict[Split, list[Task]] = {split: [] for split in SPLITS}
    for level in levels:
        if difficulties and level not in difficulties:
            continue
        tasks = [
            as_task(Goal(domain=domain, task=task))
            for task in domain.tasks.values()
            if task.difficulty == level
        ]
        tasks.sort(key=lambda task: digest(task.question))
        for number, task in enumerate(tasks):
            parts["train" if number % num_parts else "heldout"].append(task)
    for split, found in parts.items():
        if not found:
            raise ValueError(
                f"dataset.domain.difficulties: {list(difficulties)} leaves no task of the domain "
                f"{domain.name} for the split {split}; use some of {', '.join(map(str, levels))}"
            )
        found.sort(key=lambda task: digest(f"{seed}/{task.id}"))
    return lambda index, split: parts[split][index % len(parts[split])]
