"""Keys and values of rollouts: a prompt's once for all that share it, what follows in slots.

A group's rollouts begin with the same prompt, most of what a turn reads. Its keys and values are
computed and kept once; only what a rollout adds stands in a slot of its own, so that no turn
computes its past again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

# H: key heads, L: positions, D: size of a head, N: tokens in line, B: rows, P: prompts


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Prompt:
    """What any number of rollouts begin with."""

    keys: tuple[Tensor, ...]
    """One a layer [H, L, D]; so are the values."""
    values: tuple[Tensor, ...]

    def __len__(self) -> int:
        """Its tokens."""
        return self.keys[0].shape[1]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Prompts:
    """Prompts side by side, padded at the end."""

    keys: tuple[Tensor, ...]
    """One a layer [P, H, L, D]; so are the values."""
    values: tuple[Tensor, ...]

    def __len__(self) -> int:
        """Prompts."""
        return self.keys[0].shape[0]

    @property
    def width(self) -> int:
        """Tokens of the longest."""
        return self.keys[0].shape[2]

    def take(self, indices: Sequence[int]) -> Prompts:
        """Some of them."""
        index = torch.tensor(indices, device=self.keys[0].device)
        return Prompts(
            keys=tuple(states.index_select(0, index) for states in self.keys),
            values=tuple(states.index_select(0, index) for states in self.values),
        )


def side_by_side(prompts: Sequence[Prompt]) -> Prompts:
    """Stacks prompts."""

    def stack(layers: Sequence[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        return tuple(
            torch.nn.utils.rnn.pad_sequence([s.transpose(0, 1) for s in states], batch_first=True)
            .transpose(1, 2)
            .contiguous()
            for states in zip(*layers, strict=True)
        )

    return Prompts(keys=stack([p.keys for p in prompts]), values=stack([p.values for p in prompts]))


class Slots:
    """What each rollout adds to its prompt: one slot a rollout, from position 0 on."""

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
        self._keys = [_zeros(shape, dtype, device) for _ in range(num_layers)]
        self._values = [_zeros(shape, dtype, device) for _ in range(num_layers)]

    def write(
        self, layer: int, slots_N: Tensor, places_N: Tensor, keys_NHD: Tensor, values_NHD: Tensor
    ) -> None:
        """Stores one layer's keys and values of new tokens."""
        self._keys[layer][slots_N, :, places_N] = keys_NHD
        self._values[layer][slots_N, :, places_N] = values_NHD

    def read(self, layer: int, first: int, last: int, length: int) -> tuple[Tensor, Tensor]:
        """One layer's keys and values of adjacent slots' first positions, both [B, H, length, D].

        They are read in place: to gather single slots costs more than to ask all in between.
        """
        where = slice(first, last + 1)
        return self._keys[layer][where, :, :length], self._values[layer][where, :, :length]


def _zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Zeros that take no room on a CPU before they are written: NumPy's, as torch writes its own.

    Most slots are never filled, but all are read, where an unwritten NaN would spoil what is
    weighted with 0.
    """
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    num_bytes = math.prod(shape) * dtype.itemsize
    return torch.from_numpy(np.zeros(num_bytes, np.uint8)).view(dtype).view(shape)
