"""Our side: the project's own Lightning module trains on the workload, step after step.

With `--packed` every row is written out in full, still without padding: what sharing prefixes saves
is the difference.

    python -m benchmarks.update.ours FOLDER
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lightning import Trainer

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
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.collect import StepData
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.module import OrchestratorModule


class Replay:
    """The rest of a run: gives the same rows in every step, and hears how long each update took."""

    def __init__(self, rows: tuple[TrainingRow, ...]) -> None:
        self.source, self._rows = self, rows
        self.steps: list[dict[str, float]] = []

    def collect(self, version: int) -> StepData:
        """The rows."""
        return StepData(rows=self._rows, groups=(), metrics={})

    def state(self) -> dict[str, Any]:
        """Nothing is saved."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing is resumed."""

    def take_weights(self, version: int) -> Mapping[str, float]:
        """Nobody samples from them."""
        return {}

    def needs_weights(self) -> bool:
        """Nobody does."""
        return False

    def record(self, step: int, data: StepData, metrics: dict[str, float]) -> None:
        """Keeps what is told of a step."""
        self.steps.append(metrics)

    def take_result(self) -> None:
        """Nobody wants it."""


def measure(workload: Workload, *, updates: int = 1, packed: bool = False) -> dict[str, float]:
    """Times updates as a run itself does."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    outside = Replay(workload.rows)
    module = OrchestratorModule(
        workload.load_model(),
        outside=outside,
        trainer_config=trainer_config(workload, updates=updates, packed=packed),
        algorithm=AlgorithmConfig(clip_low=CLIP_LOW, clip_high=CLIP_HIGH),
        max_sampled_tokens=1,
    )
    trainer = Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    with keeping_gradient(workload, module.model, "packed" if packed else "ours"):
        trainer.fit(module)
    return figures_of(
        [step["time/update_s"] for step in outside.steps],
        computed=outside.steps[0]["tokens/trained"],
        loss=outside.steps[0]["update/loss"],
    )


def trainer_config(workload: Workload, *, updates: int = 1, packed: bool = False) -> TrainerConfig:
    """The options of our side."""
    return TrainerConfig(
        max_steps=updates + 1,
        learning_rate=LEARNING_RATE,
        beta1=BETAS[0],
        beta2=BETAS[1],
        clip_norm=CLIP_NORM,
        optimizer="adamw_fused",
        micro_batch_tokens=workload.max_tokens,
        share_prefixes=not packed,
        accelerator="cpu",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures a workload."""
    run_side(__doc__, measure, arguments, flags={"packed": "share no prefixes"})


if __name__ == "__main__":
    main()
