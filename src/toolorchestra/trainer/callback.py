"""Lightning's hooks that a run needs: a checkpoint every few steps, and at the end."""

from __future__ import annotations

from typing import Any

from lightning import Callback, LightningModule, Trainer

from toolorchestra.trainer.checkpoint import Checkpoints
from toolorchestra.trainer.module import OrchestratorModule


class SaveCheckpoints(Callback):
    """Saves after every `every`-th step and after the last one."""

    def __init__(self, checkpoints: Checkpoints, *, every: int, max_steps: int) -> None:
        self._checkpoints, self._every, self._max_steps = checkpoints, every, max_steps

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Saves where one is due."""
        assert isinstance(pl_module, OrchestratorModule)
        done = pl_module.next_step
        if done % self._every == 0 or done == self._max_steps:
            self._checkpoints.save(done, lambda path: trainer.save_checkpoint(path))
