"""Writes single attention heads of a Qwen3 model: where a head looks, and what it hands on.

Queries and keys are normalised, so that only their direction counts, and then turned by position:
pairs of places that turn fast tell neighbours apart, those that turn slowly compare codes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import Qwen3ForCausalLM

FAST_PAIRS = 4
"""Rotary pairs that turn fast enough to tell neighbours apart."""
RECENT_RADIANS = (0.008, 0.06)
"""Turn a position of the rotary pairs by which the latest of several matches is found."""
SHARPNESS = 2.4
"""Scale of queries and keys, so that a head attends to its best match alone."""


class HeadWriter:
    """Writes heads, one by one; position 0 of the residual stream must always be 1."""

    def __init__(
        self,
        model: Qwen3ForCausalLM,
        angles: Tensor,
        slow: Tensor,
        *,
        squared_lengths: Sequence[float],
    ) -> None:
        """Takes what there is to write with.

        Args:
            model: Whose heads are written.
            angles: The turn of each rotary pair a position.
            slow: The pairs that hardly turn.
            squared_lengths: Of the residual stream as each layer that is written to reads it.
        """
        self._model, self._angles = model, angles
        self._squared_lengths = squared_lengths
        self._half = model.config.head_dim // 2
        self._marked, self._resting, self._idle = slow[-3:].tolist()
        slow = slow[:-3]
        self._places = torch.cat([slow, slow + self._half])
        """Where in a head codes are compared; the places named above are kept for single marks."""

    def look_back(self, *, layer: int, head: int, distance: int, read: slice, write: slice) -> None:
        """A head that attends to the token `distance` before."""
        query, key = self._emptied(layer, head, read, write, size=1.0)
        for pair in range(FAST_PAIRS):
            # query and key differ by just the turn of that many positions
            turn = distance * float(self._angles[pair])
            key[pair, 0] = 1.0
            query[pair, 0] = math.cos(turn)
            query[pair + self._half, 0] = -math.sin(turn)

    def find_latest(
        self, *, layer: int, head: int, mark: Tensor, where: slice, read: slice, write: slice
    ) -> None:
        """A head that attends to the latest token whose part `where` holds the code `mark`."""
        query, key = self._emptied(layer, head, read, write, size=1.0)
        query[self._marked, 0] = 3.0
        key[self._marked, where] = 3.0 * mark
        low, high = RECENT_RADIANS
        for pair in torch.nonzero((self._angles >= low) & (self._angles <= high)).flatten():
            query[pair, 0] = key[pair, 0] = 1.0

    def find_latest_also(self, *, layer: int, head: int, mark: Tensor, read: slice) -> None:
        """Makes such a head find tokens half of whose part `read` is `mark`: hands on the rest."""
        _, key, value, _ = self._blocks(layer, head)
        key[self._marked, read] = 3.0 * math.sqrt(2) * mark
        length = read.stop - read.start
        value[:length, read] -= value[:length, read] @ torch.outer(mark, mark)

    def match(
        self,
        *,
        layer: int,
        head: int,
        query: slice,
        key: slice,
        read: slice,
        write: slice,
        size: float,
    ) -> None:
        """A head that attends to tokens whose part `key` equals the present token's `query`."""
        queries, keys = self._emptied(layer, head, read, write, size=size)
        keys[self._idle, 0] = 1.0  # else a token without a code would be all noise, made as loud
        for index, place in enumerate(self._places.tolist()[: query.stop - query.start]):
            queries[place, query.start + index] = 1.0
            keys[place, key.start + index] = 1.0

    def match_also(self, *, layer: int, head: int, query: slice, key: slice) -> None:
        """Makes a matching head prefer tokens whose part `key` equals the present one's `query`.

        The second pair of codes is turned at random, so as not to be taken for the first.
        """
        queries, keys, _, _ = self._blocks(layer, head)
        size = query.stop - query.start
        turn = torch.linalg.qr(torch.randn(size, size)).Q
        for index, place in enumerate(self._places.tolist()[:size]):
            queries[place, query] = turn[index]
            keys[place, key] = turn[index]

    def rest(
        self, *, layer: int, head: int, where: int, unless: Tensor, read: slice, strength: float
    ) -> None:
        """Makes a head attend to the opening, but not where `read` holds the code `unless`."""
        query, key, _, _ = self._blocks(layer, head)
        place = self._resting
        query[place, 0] = strength
        query[place, read] = -strength * unless
        key[place, where] = 1.0

    def shun(self, *, layer: int, head: int, mark: Tensor, where: slice) -> None:
        """Keeps a matching head off tokens whose part `where` holds the code `mark`."""
        query, key, _, _ = self._blocks(layer, head)
        query[self._marked, 0] = 1.0
        key[self._marked, where] = -mark

    def _blocks(self, layer: int, head: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The head's own parts of query, key, value and output projection."""
        attention = self._model.model.layers[layer].self_attn
        rows = slice(head * 2 * self._half, (head + 1) * 2 * self._half)
        return (
            attention.q_proj.weight[rows],
            attention.k_proj.weight[rows],
            attention.v_proj.weight[rows],
            attention.o_proj.weight[:, rows],
        )

    def _emptied(
        self, layer: int, head: int, read: slice, write: slice, *, size: float
    ) -> tuple[Tensor, Tensor]:
        """Query and key of an emptied head that hands `read` on to `write`, `size` times as big."""
        query, key, value, out = self._blocks(layer, head)
        for part in (query, key, value, out):
            part.zero_()
        attention = self._model.model.layers[layer].self_attn
        attention.q_norm.weight.fill_(SHARPNESS)
        attention.k_norm.weight.fill_(SHARPNESS)
        length = read.stop - read.start
        value[:length, read] = torch.eye(length)
        # undoes the norm before the layer, which makes the whole stream as long as it is wide
        value *= math.sqrt(self._squared_lengths[layer] / self._model.config.hidden_size)
        out[write, :length] = torch.eye(length) * size
        return query, key
