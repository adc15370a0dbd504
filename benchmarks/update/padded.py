"""The plain way: rows padded to the longest of their micro-batch, logits and loss at all places.

Written without any of the project's training code, so that its gradient is a second opinion.

    python -m benchmarks.update.padded FOLDER
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from benchmarks.update.side import (
    BETAS,
    CLIP_HIGH,
    CLIP_LOW,
    CLIP_NORM,
    LEARNING_RATE,
    figures_of,
    keeping_gradient,
    run_side,
)
from benchmarks.update.workload import Workload
from toolorchestra.trainer.batch import TrainingRow

# B: rows, T: tokens of the longest, V: vocabulary


def micro_batches(rows: Sequence[TrainingRow], max_tokens: int) -> Iterator[list[TrainingRow]]:
    """Rows in their order, as many as fit once padded."""
    part: list[TrainingRow] = []
    for item in rows:
        longest = max(len(other.row.ids) for other in [*part, item])
        if part and longest * (len(part) + 1) > max_tokens:
            yield part
            part = []
        part.append(item)
    yield part


def loss_of(model: PreTrainedModel, rows: Sequence[TrainingRow], num_loss_tokens: int) -> Tensor:
    """A micro-batch's share of the clipped loss."""
    ids_BT = _padded([item.row.ids for item in rows]).long()
    present_BT = _padded([[1] * len(item.row.ids) for item in rows]).long()
    mask_BT = _padded([item.row.loss_mask for item in rows])[:, 1:].bool()
    old_BT = _padded([item.row.logprobs for item in rows])[:, 1:]
    advantages_B1 = torch.tensor([[item.advantage] for item in rows])
    logits_BTV = model(input_ids=ids_BT, attention_mask=present_BT, use_cache=False).logits
    logprobs_BTV = logits_BTV[:, :-1].log_softmax(-1)
    logprobs_BT = logprobs_BTV.gather(-1, ids_BT[:, 1:, None]).squeeze(-1)
    ratio_BT = (logprobs_BT - old_BT).exp()
    clipped_BT = ratio_BT.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH)
    loss_BT = -torch.minimum(ratio_BT * advantages_B1, clipped_BT * advantages_B1)
    return torch.where(mask_BT, loss_BT, 0.0).sum() / num_loss_tokens


def _padded(values: Sequence[Sequence[float]]) -> Tensor:
    return pad_sequence([torch.tensor(row).float() for row in values], batch_first=True)


def measure(workload: Workload, *, updates: int = 1) -> dict[str, float]:
    """Times updates."""
    model = workload.load_model()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, betas=BETAS, weight_decay=0.0, fused=True
    )
    num_loss_tokens = sum(item.num_loss_tokens for item in workload.rows)
    parts = list(micro_batches(workload.rows, workload.max_tokens))
    times_s, losses = [], []
    with keeping_gradient(workload, model, "padded"):
        for _ in range(updates + 1):
            start_s = time.perf_counter()
            loss_sum = 0.0
            for part in parts:
                loss = loss_of(model, part, num_loss_tokens)
                loss.backward()
                loss_sum += float(loss.detach())
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
            optimizer.step()
            optimizer.zero_grad()
            times_s.append(time.perf_counter() - start_s)
            losses.append(loss_sum)
    computed = sum(len(part) * max(len(item.row.ids) for item in part) for part in parts)
    return figures_of(times_s, computed=computed, loss=losses[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures a workload."""
    run_side(__doc__, measure, arguments)


if __name__ == "__main__":
    main()
