"""Makes the tiny policy: a curriculum that teaches copying, then imitation of random play.

Imitation alone learns the format and copies nothing; repeated random spans teach copying within
minutes, and imitation then profits at once. The policy imitated chooses blindly, so that all it can
teach is how to call a tool and how to hand on an answer: what to call, and when, is left to
reinforcement learning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from toolorchestra.types import Row

IGNORE = -100

# B: rows, T: tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A stretch of supervised training."""

    num_steps: int
    learning_rate: float
    warmup_steps: int


Batch = tuple[Tensor, Tensor]
"""Ids [B, T], and labels [B, T] that are IGNORE where no loss is wanted."""


def repeated_spans(
    rng: Random, *, vocab: Sequence[int], num_rows: int, length: int, span: int, noise: float
) -> Batch:
    """Rows of one random span said over and over: every token after the first span can be copied."""
    rows = []
    for _ in range(num_rows):
        pattern = [rng.choice(vocab) for _ in range(span)]
        rows.append(
            [
                rng.choice(vocab) if rng.random() < noise else pattern[i % span]
                for i in range(length)
            ]
        )
    ids = torch.tensor(rows)
    labels = ids.clone()
    labels[:, :span] = IGNORE
    return ids, labels


def imitation_batch(rows: Sequence[Row], *, prompt_weighted: bool) -> Batch:
    """Rows padded at the end, with loss on sampled tokens, or on all of them."""
    width = max(len(row.ids) for row in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), IGNORE)
    for index, row in enumerate(rows):
        tokens = torch.tensor(row.ids)
        ids[index, : len(tokens)] = tokens
        wanted = torch.tensor(row.loss_mask, dtype=torch.bool)
        if prompt_weighted:
            wanted = torch.ones_like(wanted)
        labels[index, : len(tokens)][wanted] = tokens[wanted]
    return ids, labels


def fit(
    model: PreTrainedModel,
    batches: Iterator[Batch],
    stage: Stage,
    *,
    on_step: Callable[[int, float], None],
) -> None:
    """Trains by next-token prediction; `on_step` hears of every step's loss."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=stage.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    model.train()
    for step in range(stage.num_steps):
        rise = min(1.0, (step + 1) / stage.warmup_steps)
        fall = min(1.0, 2.0 * (1.0 - step / stage.num_steps))
        for group in optimizer.param_groups:
            group["lr"] = stage.learning_rate * rise * fall
        ids_BT, labels_BT = next(batches)
        hidden = model.model(input_ids=ids_BT[:, :-1]).last_hidden_state
        wanted = labels_BT[:, 1:] != IGNORE
        logits = model.lm_head(hidden[wanted])
        loss = cross_entropy(logits, labels_BT[:, 1:][wanted])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        on_step(step, float(loss))
