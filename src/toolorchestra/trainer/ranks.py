"""Ranks that train together: plain objects go between them, beside the gradients.

Waiting for rollouts may take minutes, which the collective operations of GPUs do not forgive. So
this talks over a gloo group of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar, cast

import torch.distributed as dist

T = TypeVar("T")

PATIENCE = timedelta(hours=4)
"""How long one rank waits for another; deadlines of rollouts end long before."""


class Ranks:
    """All ranks of a run, or the one there is; made on every rank once its group is."""

    def __init__(self) -> None:
        is_many = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
        self.rank = dist.get_rank() if is_many else 0
        self.size = dist.get_world_size() if is_many else 1
        self._group = dist.new_group(backend="gloo", timeout=PATIENCE) if is_many else None

    def from_first(self, value: T | None) -> T:
        """The first rank's value, on every rank."""
        box = [value]
        if self._group is not None:
            dist.broadcast_object_list(box, src=0, group=self._group)
        return cast(T, box[0])

    def made_by_first(self, make: Callable[[], T], *, shown: Callable[[T], T]) -> T:
        """What the first rank makes; the others wait for it, and get what is `shown` of it.

        Raises:
            RuntimeError: On the others, where it failed on the first.
        """
        if self.rank == 0:
            try:
                made = make()
                box = (shown(made),) if self.size > 1 else None
            except BaseException:  # Ctrl-C too: the others wait for hours for what never comes
                self.from_first(None)
                raise
            self.from_first(box)
            return made
        heard: tuple[T] | None = self.from_first(None)
        if heard is None:
            raise RuntimeError("the first rank failed; its own message says why")
        return heard[0]

    def from_all(self, value: T) -> list[T]:
        """Every rank's value, by rank, on every rank."""
        values = [value] * self.size
        if self._group is not None:
            dist.all_gather_object(values, value, group=self._group)
        return values
