"""Key-value memory with one slot a rollout, so that no turn computes its prefix again.

It answers the one call that transformers' attention makes of a cache, `update`; which slots and
positions a forward pass writes is set beforehand by `aim`. Rows of one pass may stand at
different positions: the caller's mask hides what lies beyond each row's own position, and a
position is always written before any query may look at it.
"""

from __future__ import annotations

import torch
from torch import Tensor

# B: rows of this pass, T: new tokens a row, H: heads, L: positions, D: head width


class SlotCache:
    """Keys and values of `num_slots` rollouts with room for `max_length` positions each."""

    def __init__(
        self,
        *,
        num_layers: int,
        num_slots: int,
        num_heads: int,
        head_dim: int,
        max_length: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (num_slots, num_heads, max_length, head_dim)
        self._keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(num_layers)]
        self._values = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(num_layers)]
        self._slots: Tensor = torch.empty(0, dtype=torch.long, device=device)
        self._positions: Tensor = torch.empty(0, 0, dtype=torch.long, device=device)
        self._visible = 0
        self._span: slice | None = None

    def aim(self, slots: Tensor, positions_BT: Tensor, visible: int) -> None:
        """Says where the next forward pass writes, and how many positions attention sees."""
        self._slots, self._positions, self._visible = slots, positions_BT, visible
        first = int(slots[0])
        is_run = bool((slots == torch.arange(first, first + len(slots), device=slots.device)).all())
        # a run of slots is read in place; anything else has to be gathered
        self._span = slice(first, first + len(slots)) if is_run else None

    def update(
        self, keys_BHTD: Tensor, values_BHTD: Tensor, layer: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Stores one layer's new keys and values; returns all that the rows may attend to."""
        rows = self._slots[:, None]
        self._keys[layer][rows, :, self._positions] = keys_BHTD.transpose(1, 2)
        self._values[layer][rows, :, self._positions] = values_BHTD.transpose(1, 2)
        where = self._slots if self._span is None else self._span
        return (
            self._keys[layer][where, :, : self._visible],
            self._values[layer][where, :, : self._visible],
        )

    def copy(self, source: int, targets: list[int], length: int) -> None:
        """Gives `targets` the first `length` positions of `source`."""
        index = torch.tensor(targets, device=self._slots.device)
        for memory in (*self._keys, *self._values):
            memory[index, :, :length] = memory[source, :, :length]
