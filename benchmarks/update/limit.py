"""The limit: one dense batch that takes the same operations as our update.

Its length and number of rows follow from the tokens and pairs of tokens that our update computes,
and as many of its tokens have a loss. It has no padding, no tree and no mask but the causal one,
its only kernels are those of torch, and its update is as any other. What differs by rounding is
made up for in proportion. One big batch is not always the fastest on a CPU, so the same is also
timed in as many micro-batches as ours, and the faster of both is the limit.

Also the peak: the fastest of many large matrix products.

    python -m benchmarks.update.limit FOLDER
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from benchmarks.update.side import BETAS, CLIP_NORM, LEARNING_RATE, figures_of, run_side
from benchmarks.update.work import Work, num_unique, work_of
from benchmarks.update.workload import Workload
from toolorchestra.trainer.flops import costs_of

# B: rows, T: tokens of each, N: loss tokens, V: vocabulary, D: width

PEAK_SIZE, PEAK_S = 2048, 3.0
"""Rows of the matrices whose product is timed, and for how long it is tried."""


def dense_shape(work: Work) -> tuple[int, int]:
    """Rows and tokens of the dense batch with about the same tokens and pairs of tokens.

    B T = tokens and B T (T + 1) / 2 = pairs.
    """
    length = 2 * work.pairs / work.tokens - 1
    num_rows = max(round(work.tokens / length), 1)
    return num_rows, max(round(work.tokens / num_rows), 2)


def dense_update(
    model: PreTrainedModel,
    optimizer: torch.optim.Optimizer,
    ids_BT: Tensor,
    *,
    num_loss_tokens: int,
    micro_batches: int,
) -> float:
    """Updates the weights once; returns the seconds it took."""
    start_s = time.perf_counter()
    for part_BT in ids_BT.chunk(micro_batches):
        num_rows, length = part_BT.shape
        count = round(num_loss_tokens * num_rows / len(ids_BT))
        at_N = torch.linspace(0, num_rows * (length - 1) - 1, count).round().long()
        hidden_BTD = model.model(input_ids=part_BT, use_cache=False).last_hidden_state
        hidden_ND = hidden_BTD[:, :-1].flatten(0, 1).index_select(0, at_N)
        logprobs_NV = model.lm_head(hidden_ND).log_softmax(-1)
        targets_N = part_BT[:, 1:].flatten()[at_N]
        taken_N = logprobs_NV.gather(-1, targets_N[:, None])
        (-taken_N.sum() / num_loss_tokens).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
    optimizer.step()
    optimizer.zero_grad()
    return time.perf_counter() - start_s


def peak_flops() -> float:
    """Operations a second of a large product of matrices in float32, at best."""
    left, right = torch.randn(2, PEAK_SIZE, PEAK_SIZE)
    best, end_s = 0.0, time.perf_counter() + PEAK_S
    while time.perf_counter() < end_s:
        start_s = time.perf_counter()
        torch.mm(left, right)
        best = max(best, 2 * PEAK_SIZE**3 / (time.perf_counter() - start_s))
    return best


def measure(workload: Workload, *, updates: int = 1) -> dict[str, float]:
    """Times dense updates, the peak, and counts what ours has to do."""
    model = workload.load_model()
    work, costs = work_of(workload, model.config), costs_of(model.config)
    num_rows, length = dense_shape(work)
    generator = torch.Generator().manual_seed(0)
    ids_BT = torch.randint(model.config.vocab_size, (num_rows, length), generator=generator)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, betas=BETAS, weight_decay=0.0, fused=True
    )
    times_s = {
        count: [
            dense_update(
                model,
                optimizer,
                ids_BT,
                num_loss_tokens=work.loss_tokens,
                micro_batches=min(count, num_rows),
            )
            for _ in range(updates + 1)
        ]
        for count in (1, work.micro_batches)
    }
    dense = num_rows * costs.of(0, length, 0) + costs.per_loss_token * work.loss_tokens
    scaled = {
        count: figures_of(taken_s)["update_s"] * work.flops / dense
        for count, taken_s in times_s.items()
    }
    return {
        "update_s": min(scaled.values()),
        "whole_s": scaled[1],
        "split_s": scaled[work.micro_batches],
        "dense_rows": num_rows,
        "dense_length": length,
        "dense_flops": dense,
        "flops": work.flops,
        "micro_batches": work.micro_batches,
        "loss_tokens": work.loss_tokens,
        "peak_flops": peak_flops(),
        "unique": num_unique(item.row.ids for item in workload.rows),
        "row_tokens": sum(len(item.row.ids) for item in workload.rows),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures a workload."""
    run_side(__doc__, measure, arguments)


if __name__ == "__main__":
    main()
