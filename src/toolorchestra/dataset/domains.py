"""Tasks of domains: goals to reach with their functions."""

from __future__ import annotations

from collections.abc import Callable

from toolorchestra.dataset.config import DomainsConfig
from toolorchestra.dataset.cycle import Cycle
from toolorchestra.dataset.mix import mixed
from toolorchestra.dataset.split import NUM_PARTS, SPLITS, Split, digest
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.domain.task import DomainTask
from toolorchestra.types import Task


def domain_source(
    config: DomainsConfig, *, seed: int, num_parts: int, has_user: bool
) -> Callable[[int, Split], Task]:
    """Goes through the tasks of each domain round and round, and draws the domain by weight.

    Args:
        config: The domains and difficulties.
        seed: Of the order, never of the split.
        num_parts: One task in so many of each difficulty is held out, chosen by a digest of the
            instruction; 1: all.
        has_user: False leaves out what cannot be reached without a user who acts.

    Raises:
        ValueError: A domain cannot be loaded, or has no task of these difficulties for one of
            the splits.
    """
    weights = {name: weight for name, weight in config.weights.items() if weight}
    catalogue = config.catalogue
    sources = {
        name: _source(
            catalogue.load_own(name), config, seed=seed, num_parts=num_parts, has_user=has_user
        )
        for name in weights
    }
    return mixed(sources, weights, seed=seed)


def _source(
    domain: Domain, config: DomainsConfig, *, seed: int, num_parts: int, has_user: bool
) -> Callable[[int, Split], Task]:
    difficulties = config.difficulties
    parts: dict[Split, list[Task]] = {}
    for split, goals in split_goals(domain, num_parts=num_parts).items():
        found = [
            goal
            for goal in goals
            if (not difficulties or goal.difficulty in difficulties)
            and (has_user or not goal.needs_user)
        ]
        parts[split] = [as_task(Goal(domain=domain, task=task)) for task in found]
        levels = sorted({goal.difficulty for goal in domain.tasks.values()})
        if not found and (split == "heldout" or num_parts > 1):
            raise ValueError(
                f"dataset.domain.difficulties: {list(difficulties)} leaves no task of the domain "
                f"{domain.name} for the split {split}; use some of {', '.join(map(str, levels))}"
            )
        parts[split].sort(key=lambda task: digest(f"{seed}/{task.id}"))
    return Cycle(parts=parts)


def split_goals(domain: Domain, *, num_parts: int = NUM_PARTS) -> dict[Split, list[DomainTask]]:
    """The tasks of each split, by difficulty; see `domain_source`."""
    parts: dict[Split, list[DomainTask]] = {split: [] for split in SPLITS}
    for level in sorted({task.difficulty for task in domain.tasks.values()}):
        tasks = [task for task in domain.tasks.values() if task.difficulty == level]
        tasks.sort(key=lambda task: digest(task.instruction))
        for number, task in enumerate(tasks):
            parts["train" if number % num_parts else "heldout"].append(task)
    return parts
