"""What attention does in one pass of the engine: over whole prompts, or over what follows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from toolorchestra.engine.memory import Prompt, Prompts, Slots

# N: tokens in line, B: rows, T: most new tokens of a row, H: heads, K: key heads, D: size of a head
# G: groups that read the same, R: their cells, L: tokens of the longest prompt, S: those of slots


class PromptPass:
    """Computes prompts, each from its beginning, and keeps their keys and values: an `Attend`."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self._lengths = list(lengths)
        places_BT, self._is_token_BT = _grid(lengths, device)
        self._places = places_BT.flatten()
        self._shape = places_BT.shape
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []

    def __call__(
        self, layer: int, query_HLD: Tensor, key_HLD: Tensor, value_HLD: Tensor, scale: float
    ) -> Tensor:
        """Attention of one layer; layers come in their order. Returns [N, H, D]."""
        assert layer == len(self._keys)
        query, key, value = (
            torch.unflatten(states.index_select(1, self._places), 1, self._shape).transpose(0, 1)
            for states in (query_HLD, key_HLD, value_HLD)
        )  # each [B, H, T, D]
        self._keys.append(key)
        self._values.append(value)
        # padding stands at the end, where no token looks
        out_BHTD = functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scale,
            enable_gqa=query.shape[1] != key.shape[1],
        )  # fmt: skip
        return out_BHTD.transpose(1, 2)[self._is_token_BT]

    def prompts(self) -> list[Prompt]:
        """The prompts, after the last layer."""
        return [
            Prompt(
                keys=tuple(states[row, :, :length].clone() for states in self._keys),
                values=tuple(states[row, :, :length].clone() for states in self._values),
            )
            for row, length in enumerate(self._lengths)
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One row of a pass: new tokens of a rollout, and what they may see."""

    slot: int
    prompt: int
    """Which of the prompts side by side it begins with."""
    shared: int
    """How many of its tokens; the rollout's own stand in the slot from 0 on."""
    start: int
    """Place in the slot of the first new token."""
    count: int
    """New tokens."""


class SlotPass:
    """Computes what follows prompts, rows of a prompt reading it together: an `Attend`."""

    def __init__(
        self, slots: Slots, prompts: Prompts, rows: Sequence[Reading], device: torch.device
    ) -> None:
        self._slots, self._prompts = slots, prompts
        counts = [row.count for row in rows]
        places_BT, self._is_token_BT = _grid(counts, device)
        self._places, self._shape = places_BT.flatten(), places_BT.shape
        slot_B = np.array([row.slot for row in rows])
        owner_N = np.repeat(np.arange(len(rows)), counts)
        place_N = np.concatenate([np.arange(row.start, row.start + row.count) for row in rows])
        self._slots_N = torch.from_numpy(slot_B[owner_N]).to(device)
        self._places_N = torch.from_numpy(place_N).to(device)
        self._length = int(place_N.max()) + 1
        self._first, self._last = int(slot_B.min()), int(slot_B.max())
        self._by_slot = _Regrouping((slot_B - self._first).tolist(), 1, device)
        ranks, seen = [], [0] * len(prompts)
        for row in rows:
            ranks.append(seen[row.prompt])
            seen[row.prompt] += 1
        cells = [row.prompt * max(seen) + rank for row, rank in zip(rows, ranks, strict=True)]
        self._by_prompt = _Regrouping(cells, max(seen), device)
        steps_T = torch.arange(self._shape[1], device=device)
        ends_BT = torch.tensor([row.start for row in rows], device=device)[:, None] + steps_T
        beyond_own = torch.arange(self._length, device=device) > ends_BT[:, :, None]
        shared_B = torch.tensor([row.shared for row in rows], device=device)
        beyond_prompt = torch.arange(prompts.width, device=device) >= shared_B[:, None, None]
        self._beyond_own_GTS = self._by_slot.group(beyond_own[:, None])[:, 0]
        self._beyond_prompt_GRL = self._by_prompt.group(beyond_prompt[:, None])[:, 0]

    def __call__(
        self, layer: int, query_HLD: Tensor, key_HLD: Tensor, value_HLD: Tensor, scale: float
    ) -> Tensor:
        """Attention of one layer. Returns [N, H, D]."""
        self._slots.write(
            layer, self._slots_N, self._places_N, key_HLD.transpose(0, 1), value_HLD.transpose(0, 1)
        )
        num_heads, _, dim = query_HLD.shape
        num_keys = key_HLD.shape[0]
        (rows, new), each = self._shape, num_heads // num_keys
        # query heads that share a key head ask together, as do a row's tokens: Q = T * each
        query_BKQD = (
            (query_HLD * scale)
            .index_select(1, self._places)
            .view(num_keys, each, rows, new, dim)
            .permute(2, 0, 3, 1, 4)
            .reshape(rows, num_keys, new * each, dim)
        )
        own = _attend(
            self._by_slot.group(query_BKQD),
            *self._slots.read(layer, self._first, self._last, self._length),
            self._beyond_own_GTS.repeat_interleave(each, 1)[:, None],
        )
        of_prompt = _attend(
            self._by_prompt.group(query_BKQD),
            self._prompts.keys[layer],
            self._prompts.values[layer],
            self._beyond_prompt_GRL.repeat_interleave(new * each, 1)[:, None],
        )
        out_BKQD = _merge(map(self._by_slot.ungroup, own), map(self._by_prompt.ungroup, of_prompt))
        out_BTHD = out_BKQD.view(rows, num_keys, new, each, dim).transpose(1, 2).flatten(2, 3)
        return out_BTHD[self._is_token_BT].to(query_HLD.dtype)


class _Regrouping:
    """Puts rows that read the same side by side, and apart again."""

    def __init__(self, cells: Sequence[int], each: int, device: torch.device) -> None:
        """Row b goes to `cells[b]`; `each` cells read the same."""
        num_groups = max(cells) // each + 1
        members = torch.zeros(num_groups * each, dtype=torch.long)  # an empty cell asks as row 0
        members[torch.tensor(cells)] = torch.arange(len(cells))
        self._members, self._cells = members.to(device), torch.tensor(cells, device=device)
        self._each = each

    def group(self, states_BKQX: Tensor) -> Tensor:
        """Returns [groups, K, each * Q, X]."""
        cells = states_BKQX.index_select(0, self._members)
        groups = torch.unflatten(cells, 0, (-1, self._each))
        return groups.transpose(1, 2).flatten(2, 3)

    def ungroup(self, states_GKQX: Tensor) -> Tensor:
        """Returns [B, K, Q, X]."""
        cells = torch.unflatten(states_GKQX, 2, (self._each, -1)).transpose(1, 2)
        return cells.flatten(0, 1).index_select(0, self._cells)


def _attend(query: Tensor, keys: Tensor, values: Tensor, hidden: Tensor) -> Iterable[Tensor]:
    """Attention over a part of what there is to see, yet to be divided by its total weight.

    Returns:
        Weighted values, the highest score and the total weight relative to it, in float32 or more.
    """
    precise = torch.promote_types(query.dtype, torch.float32)
    scores = (query @ keys.transpose(-1, -2)).to(precise).masked_fill_(hidden, -torch.inf)
    highest = scores.amax(-1, keepdim=True)
    weights = scores.sub_(highest).exp_()
    sums = (weights.to(values.dtype) @ values).to(precise)
    return sums, highest, weights.sum(-1, keepdim=True)


def _merge(one: Iterable[Tensor], other: Iterable[Tensor]) -> Tensor:
    """Attention over two parts."""
    (sum_1, highest_1, total_1), (sum_2, highest_2, total_2) = one, other
    highest = torch.maximum(highest_1, highest_2)
    weight_1, weight_2 = (highest_1 - highest).exp_(), (highest_2 - highest).exp_()
    return (sum_1 * weight_1 + sum_2 * weight_2) / (total_1 * weight_1 + total_2 * weight_2)


def _grid(counts: Sequence[int], device: torch.device) -> tuple[Tensor, Tensor]:
    """Where tokens in line stand in rows padded at the end, both [B, T].

    Returns:
        The token of each cell, any one in padding; and whether it is one.
    """
    counts_B = np.array(counts)
    starts_B = np.concatenate([[0], np.cumsum(counts_B)[:-1]])
    steps_T = np.arange(counts_B.max())
    is_token_BT = steps_T < counts_B[:, None]
    places_BT = np.where(is_token_BT, starts_B[:, None] + steps_T, 0)
    return torch.from_numpy(places_BT).to(device), torch.from_numpy(is_token_BT).to(device)
