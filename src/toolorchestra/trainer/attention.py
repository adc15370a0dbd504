"""Attention over a token tree: every token to its ancestors and to itself.

On a GPU one FlexAttention kernel reads the tree from its block mask. On a CPU, where that has no
backward pass, sequences of like lengths are attended to together: only the tokens of their own ask,
all of their path answers. Everything else a transformer does it does token by token, unpadded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from toolorchestra.trainer.tree import TokenTree

# L: tokens of the tree, B: sequences of a bucket, Q: most own tokens of one, K: longest path,
# H: heads, D: size of a head

MAX_PADDING = 1.3
"""Pairs of tokens computed in a bucket, against those of its sequences."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """Sequences of like lengths, padded at the end."""

    queries_BQ: Tensor
    """Where in the line the own tokens of each stand."""
    keys_BK: Tensor
    """Where its path stands."""
    mask_BQK: Tensor
    """0 where a query may see a key, else -inf; padding sees the root."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeLayout:
    """Attention over a tree, by its buckets or by a block mask: an `Attend`."""

    buckets: tuple[Bucket, ...] = ()
    places_L: Tensor | None = None
    """Where each token stands among the queries of all buckets."""
    block_mask: BlockMask | None = None

    def __call__(
        self, layer: int, query_HLD: Tensor, key_HLD: Tensor, value_HLD: Tensor, scale: float
    ) -> Tensor:
        """The attention of any layer; returns [L, H, D]."""
        if self.block_mask is None:
            return _attend_in_buckets(query_HLD, key_HLD, value_HLD, self, scale)
        flex = _compiled_flex() if query_HLD.device.type == "cuda" else flex_attention
        out = flex(
            query_HLD[None], key_HLD[None], value_HLD[None],
            block_mask=self.block_mask, scale=scale, enable_gqa=True,
        )  # fmt: skip
        heads_HLD: Tensor = out[0]
        return heads_HLD.transpose(0, 1)


def lay_out(tree: TokenTree, device: torch.device) -> TreeLayout:
    """Prepares a tree for attention on `device`."""
    if device.type == "cuda":
        return TreeLayout(block_mask=block_mask(tree, device))
    return bucket_layout(tree)


def block_mask(tree: TokenTree, device: torch.device) -> BlockMask:
    """The tree as FlexAttention reads it."""
    ends_L = torch.from_numpy(tree.ends_L).to(device)
    size = tree.num_tokens

    def sees(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key <= query) & (query < ends_L[key])

    return create_block_mask(sees, None, None, size, size, device=str(device))


def bucket_layout(tree: TokenTree) -> TreeLayout:
    """The tree's sequences in buckets, those without tokens of their own left out."""
    buckets = []
    places_L = np.empty(tree.num_tokens, np.int64)
    start = 0
    for members in _bucketed(tree):
        own = [tree.own[r] for r in members]
        paths = [tree.paths[r] for r in members]
        width_Q, width_K = max(own), max(map(len, paths))
        queries_BQ = np.zeros((len(members), width_Q), np.int64)
        keys_BK = np.zeros((len(members), width_K), np.int64)
        mask_BQK = np.full((len(members), width_Q, width_K), -np.inf, np.float32)
        mask_BQK[:, :, 0] = 0.0
        for b, (path, count) in enumerate(zip(paths, own, strict=True)):
            queries_BQ[b, :count] = path[-count:]
            keys_BK[b, : len(path)] = path
            depths = np.arange(len(path) - count, len(path))
            mask_BQK[b, :count][np.arange(width_K) <= depths[:, None]] = 0.0
            places_L[path[-count:]] = start + b * width_Q + np.arange(count)
        start += len(members) * width_Q
        buckets.append(
            Bucket(
                queries_BQ=torch.from_numpy(queries_BQ),
                keys_BK=torch.from_numpy(keys_BK),
                mask_BQK=torch.from_numpy(mask_BQK),
            )
        )
    return TreeLayout(buckets=tuple(buckets), places_L=torch.from_numpy(places_L))


def _bucketed(tree: TokenTree) -> list[list[int]]:
    """Sequences of like lengths together, so that a bucket is not padded too much."""
    buckets: list[list[int]] = []
    wanted = width_Q = width_K = 0
    by_length = sorted(
        (r for r, count in enumerate(tree.own) if count),
        key=lambda r: (tree.own[r], len(tree.paths[r])),
    )
    for r in by_length:
        count, length = tree.own[r], len(tree.paths[r])
        wanted += count * length
        width_Q, width_K = max(width_Q, count), max(width_K, length)
        if not buckets or (len(buckets[-1]) + 1) * width_Q * width_K > MAX_PADDING * wanted:
            buckets.append([])
            wanted, width_Q, width_K = count * length, count, length
        buckets[-1].append(r)
    return buckets


def _attend_in_buckets(
    query_HLD: Tensor, key_HLD: Tensor, value_HLD: Tensor, tree: TreeLayout, scale: float
) -> Tensor:
    lines = [states.transpose(0, 1) for states in (query_HLD, key_HLD, value_HLD)]
    outs = []
    for bucket in tree.buckets:
        places = (bucket.queries_BQ, bucket.keys_BK, bucket.keys_BK)
        q, k, v = (
            torch.unflatten(line.index_select(0, place.flatten()), 0, place.shape).transpose(1, 2)
            for line, place in zip(lines, places, strict=True)
        )
        out_BHQD = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=bucket.mask_BQK[:, None].to(q.dtype), scale=scale,
            enable_gqa=q.shape[1] != k.shape[1],
        )  # fmt: skip
        outs.append(out_BHQD.transpose(1, 2).flatten(0, 1))
    assert tree.places_L is not None
    return torch.cat(outs).index_select(0, tree.places_L)


@cache
def _compiled_flex() -> Any:
    return torch.compile(flex_attention, dynamic=True)
