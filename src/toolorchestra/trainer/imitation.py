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

from toolorchestra.trainer.batch import TrainingRow, make_micro_batch
from toolorchestra.trainer.logprobs import score_tokens

IGNORE = -100

# B: rows, T: tokens

Batch = tuple[Tensor, Tensor]
"""Ids [B, T], and labels [B, T] that are IGNORE where no loss is wanted."""


@dataclass(kw_only=True)
class StageConfig:
    """A stretch of supervised training."""

    num_steps: int
    learning_rate: float
    """Peak of a linear rise and, over the second half, a linear fall."""
    warmup_steps: int


def repeated_span(
    rng: Random, *, vocab: Sequence[int], length: int, span: int, noise: float
) -> tuple[list[int], list[int]]:
    """Ids and labels of one random span said over and over: after the first, all can be copied."""
    pattern = [rng.choice(vocab) for _ in range(span)]
    ids = [rng.choice(vocab) if rng.random() < noise else pattern[i % span] for i in range(length)]
    return ids, [IGNORE] * span + ids[span:]


def curriculum(
    rng: Random, vocab: Sequence[int], *, num_rows: int, length: int, span: int
) -> Iterator[Batch]:
    """Batches of rows that each repeat a span of their own.

    All spans have one length: a mixture of lengths is learned much more slowly, and not needed for
    imitation to profit.
    """
    while True:
        rows = [
            repeated_span(rng, vocab=vocab, length=length, span=span, noise=0.05)
            for _ in range(num_rows)
        ]
        yield torch.tensor([ids for ids, _ in rows]), torch.tensor([labels for _, labels in rows])


def span_losses(model: PreTrainedModel, batches: Iterator[Batch]) -> Iterator[Tensor]:
    """Mean next-token loss of each batch, over what can be copied."""
    for ids_BT, labels_BT in batches:
        hidden = model.model(input_ids=ids_BT[:, :-1]).last_hidden_state
        wanted = labels_BT[:, 1:] != IGNORE
        yield cross_entropy(model.lm_head(hidden[wanted]), labels_BT[:, 1:][wanted])


def imitation_losses(
    model: PreTrainedModel, groups: Sequence[Sequence[TrainingRow]], rng: Random, *, num_groups: int
) -> Iterator[Tensor]:
    """Mean loss of what the policy said, over random groups whose rows share their prompt."""
    while True:
        rows = [row for group in rng.sample(groups, num_groups) for row in group]
        yield -score_tokens(model, make_micro_batch(rows)).logprobs_N.mean()


def fit(
    model: PreTrainedModel,
    losses: Iterator[Tensor],
    stage: StageConfig,
    *,
    on_step: Callable[[int, float], None],
) -> None:
    """Minimises each step's loss; `on_step` hears of it."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=stage.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    model.train()
    for step in range(stage.num_steps):
        rise = min(1.0, (step + 1) / stage.warmup_steps)
        fall = min(1.0, 2.0 * (1.0 - step / stage.num_steps))
        for group in optimizer.param_groups:
            group["lr"] = stage.learning_rate * rise * fall
        loss = next(losses)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        on_step(step, float(loss.detach()))
