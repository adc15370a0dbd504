"""Imitation: supervised training on what a demonstrated policy said, prompts shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

import torch
from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.trainer.batch import TrainingRow, make_micro_batch
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.warmstart.config import ImitationConfig


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
    options: ImitationConfig,
    *,
    on_step: Callable[[int, float], None],
) -> None:
    """Minimises each step's loss; `on_step` hears of it."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    model.train()
    for step in range(options.num_steps):
        rise = min(1.0, (step + 1) / options.warmup_steps)
        fall = min(1.0, 2.0 * (1.0 - step / options.num_steps))
        for group in optimizer.param_groups:
            group["lr"] = options.learning_rate * rise * fall
        loss = next(losses)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        on_step(step, float(loss.detach()))
