"""Tasks that have an end, gone through round and round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolorchestra.dataset.split import Split
from toolorchestra.types import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class Cycle:
    """Each task of a split comes once before the first comes again."""

    parts: Mapping[Split, Sequence[Task]]
    """None of those that are drawn from is empty."""

    def __call__(self, index: int, split: Split) -> Task:
        """Task number `index` of a split."""
        tasks = self.parts[split]
        return tasks[index % len(tasks)]
