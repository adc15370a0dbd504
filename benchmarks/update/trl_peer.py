"""The peer: TRL's GRPOTrainer makes the update, from its own training loop, loss and optimizer.

Only what it trains on is put into its hands: the step's rows as its own rollouts would give them,
all prompts padded to the longest at the left, all completions at the right, with tools' results
masked. Its batch is as many rows as fit the budget. Neither rollouts nor padding are timed.

    python -m benchmarks.update.trl_peer FOLDER
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1")  # read on import

import torch
from datasets import Dataset
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

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
from toolorchestra.model.policy import TINY
from toolorchestra.trainer.batch import TrainingRow

Batch = dict[str, Tensor]


class Clock(TrainerCallback):  # type: ignore[misc]
    """Times each step, from its first micro-batch to its cleared gradient."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self._start_s = 0.0

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        """Before the first micro-batch."""
        self._start_s = time.perf_counter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """After the optimizer."""
        self.times_s.append(time.perf_counter() - self._start_s)


class Peer(GRPOTrainer):  # type: ignore[misc]
    """GRPOTrainer whose rollouts are given."""

    def __init__(self, *args: Any, batches: Sequence[Batch], **kwargs: Any) -> None:
        self._given = batches
        self.losses: list[float] = []
        super().__init__(*args, **kwargs)

    def _prepare_inputs(self, generation_batch: Any) -> Batch:
        return self._given[self._step % len(self._given)]

    def compute_loss(self, *args: Any, **kwargs: Any) -> Tensor:
        """The loss of one micro-batch, remembered."""
        loss: Tensor = super().compute_loss(*args, **kwargs)
        self.losses.append(float(loss.detach()))
        return loss


def make_batches(rows: Sequence[TrainingRow], rows_each: int) -> list[Batch]:
    """The step's rows as TRL pads and then splits them."""
    starts = [item.row.loss_mask.index(1) for item in rows]
    prompts = [item.row.ids[:start] for item, start in zip(rows, starts, strict=True)]
    completions = [item.row.ids[start:] for item, start in zip(rows, starts, strict=True)]
    masks = [item.row.loss_mask[start:] for item, start in zip(rows, starts, strict=True)]
    logprobs = [item.row.logprobs[start:] for item, start in zip(rows, starts, strict=True)]
    whole = {
        "prompt_ids": _pad(prompts, "left").long(),
        "prompt_mask": _pad([[1] * len(ids) for ids in prompts], "left").long(),
        "completion_ids": _pad(completions, "right").long(),
        "completion_mask": _pad([[1] * len(ids) for ids in completions], "right").long(),
        "tool_mask": _pad(masks, "right").long(),
        "old_per_token_logps": _pad(logprobs, "right"),
        "advantages": torch.tensor([item.advantage for item in rows]),
    }
    count = torch.tensor(sum(item.num_loss_tokens for item in rows))
    return [
        {name: values[start : start + rows_each] for name, values in whole.items()}
        | {"num_items_in_batch": count}
        for start in range(0, len(rows), rows_each)
    ]


def _pad(values: Sequence[Sequence[float]], side: str) -> Tensor:
    rows = [torch.tensor(row).float() for row in values]
    return pad_sequence(rows, batch_first=True, padding_side=side)


def make_peer(workload: Workload, batches: list[Batch], updates: int, folder: Path) -> Peer:
    """The trainer."""
    return Peer(
        model=workload.load_model(),
        processing_class=AutoTokenizer.from_pretrained(TINY),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=GRPOConfig(
            output_dir=str(folder),
            # of the prompts below, which are never used; each holds a micro-batch's place
            per_device_train_batch_size=2,
            num_generations=2,
            gradient_accumulation_steps=len(batches),
            max_steps=updates + 1,
            learning_rate=LEARNING_RATE,
            lr_scheduler_type="constant",
            adam_beta1=BETAS[0],
            adam_beta2=BETAS[1],
            max_grad_norm=CLIP_NORM,
            epsilon=CLIP_LOW,
            epsilon_high=CLIP_HIGH,
            beta=0.0,
            loss_type="dapo",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            report_to="none",
            logging_strategy="no",
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([{"prompt": "none"}] * len(workload.rows)),
        batches=batches,
    )


def measure(workload: Workload, *, updates: int = 1) -> dict[str, float]:
    """Times the steps of its training loop."""
    longest = max(item.row.loss_mask.index(1) for item in workload.rows) + max(
        len(item.row.ids) - item.row.loss_mask.index(1) for item in workload.rows
    )
    batches = make_batches(workload.rows, max(workload.max_tokens // longest, 1))
    clock = Clock()
    with TemporaryDirectory(prefix="toolorchestra-bench-") as folder:
        peer = make_peer(workload, batches, updates, Path(folder))
        peer.add_callback(clock)
        with keeping_gradient(workload, peer.model, "peer"):
            peer.train()
    assert len(clock.times_s) == updates + 1, f"{len(clock.times_s)} steps were made"
    return figures_of(
        clock.times_s,
        computed=longest * len(workload.rows),
        loss=sum(peer.losses[: len(batches)]),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures a workload."""
    run_side(__doc__, measure, arguments)


if __name__ == "__main__":
    main()
