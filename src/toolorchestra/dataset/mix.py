"""A mixture of sources, whose shares hold exactly in every block of tasks.

Which source gives a task, and which of its tasks, depends on seed, split and number alone. Each
source is gone through in its own order, so that one that comes round repeats nothing before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from toolorchestra.dataset.split import Split
from toolorchestra.types import Task

BLOCK = 1000
"""Tasks in which the shares hold exactly, up to rounding to whole tasks."""


def shares(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """`total` shared out by weight in whole numbers: largest remainders are rounded up first."""
    scale = total / sum(weights.values())
    exact = {name: weight * scale for name, weight in weights.items()}
    whole = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (whole[name] - exact[name], name))
    for name in by_remainder[: total - sum(whole.values())]:
        whole[name] += 1
    return whole


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixture:
    """A source of tasks that draws from others."""

    sources: Mapping[str, Callable[[int, Split], Task]]
    places: Callable[[int, Split], tuple[tuple[str, int], ...]]
    """Gives the source of each task of a block, and which of the source's tasks it is."""

    def __call__(self, index: int, split: Split) -> Task:
        """Task number `index` of a split."""
        name, number = self.places(index // BLOCK, split)[index % BLOCK]
        return named(name, self.sources[name](number, split))


def named(source: str, task: Task) -> Task:
    """A task as a mixture gives it: its id names the source, as two may use the same."""
    return replace(task, id=f"{source}/{task.id}")


def mixed(
    sources: Mapping[str, Callable[[int, Split], Task]],
    weights: Mapping[str, float],
    *,
    seed: int,
) -> Mixture:
    """The mixture of sources by weight, each split drawn from the same split of theirs.

    Args:
        sources: By name.
        weights: Relative share of each source; at least one is above 0.
        seed: Of the order in which sources follow one another.
    """
    counts = shares({name: weights[name] for name in sources}, BLOCK)

    @lru_cache(maxsize=8)
    def places(block: int, split: Split) -> tuple[tuple[str, int], ...]:
        """The source of each task of a block, and which of the source's tasks it is."""
        names = [name for name, count in counts.items() for _ in range(count)]
        Random(f"{seed}/mix/{split}/{block}").shuffle(names)
        used = {name: block * count for name, count in counts.items()}
        drawn = []
        for name in names:
            drawn.append((name, used[name]))
            used[name] += 1
        return tuple(drawn)

    return Mixture(sources=sources, places=places)
