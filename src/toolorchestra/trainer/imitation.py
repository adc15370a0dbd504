"""Supervised training for a policy from scratch: a curriculum that teaches copying, then imitation.

Imitation alone learns the format and copies nothing; repeated random spans teach copying within
minutes, and imitation then profits at once.
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

Batch = tuple[Tensor, Tensor]
"""Ids [B, T], and labels [B, T] that are IGNORE where no loss is wanted."""


@dataclass(kw_only=True)
class StageConfig:
    """A stretch of supervised training."""

    num_steps: int
    num_rows: int
    """Rows of a batch."""
    learning_rate: float
    """Peak of a linear rise and, over the second half, a linear fall."""
    warmup_steps: int


def repeated_span(
    rng: Random, *, vocab: Sequence[int], length: int, span: int, noise: float
) -> tuple[list[int], list[int]]:
    """Ids and labels of one random span said over and over: after the first, all can be copied."""
    pattern = [rng.choice(vocab) for _ in range(span)]
    ids = [
        rng.choice(vocab) if rng.random() < noise else pattern[i % span] for i in range(length)
    ]
    return ids, [IGNORE] * span + ids[span:]


def curriculum(
    rng: Random, vocab: Sequence[int], *, num_rows: int, length: int, short_steps: int
) -> Iterator[Batch]:
    """Spans of ten tokens until copying is learned; then ever longer and shorter ones among them.

    Longer spans all at once would unlearn what the short ones taught.
    """
    step = 0
    while True:
        longest = min(length // 2, 10 + max(0, step - short_steps) // 4)
        spans = [
            10 if step < short_steps else rng.randint(5, longest) for _ in range(num_rows)
        ]
        rows = [
            repeated_span(rng, vocab=vocab, length=length, span=span, noise=0.05) for span in spans
        ]
        yield torch.tensor([ids for ids, _ in rows]), torch.tensor([labels for _, labels in rows])
        step += 1


def imitation(rng: Random, rows: Sequence[Row], *, num_rows: int) -> Iterator[Batch]:
    """Random batches of demonstrations with loss on sampled tokens, rows of like length together."""
    by_length = sorted(rows, key=lambda row: len(row.ids))
    while True:
        first = rng.randrange(max(1, len(by_length) - num_rows))
        yield imitation_batch(by_length[first : first + num_rows])


def imitation_batch(rows: Sequence[Row]) -> Batch:
    """Rows padded at the end, with loss on what the policy said."""
    width = max(len(row.ids) for row in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), IGNORE)
    for index, row in enumerate(rows):
        tokens = torch.tensor(row.ids)
        wanted = torch.tensor(row.loss_mask, dtype=torch.bool)
        ids[index, : len(tokens)] = tokens
        labels[index, : len(tokens)][wanted] = tokens[wanted]
    return ids, labels


def fit(
    model: PreTrainedModel,
    batches: Iterator[Batch],
    stage: StageConfig,
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
        loss = cross_entropy(model.lm_head(hidden[wanted]), labels_BT[:, 1:][wanted])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        on_step(step, float(loss.detach()))
