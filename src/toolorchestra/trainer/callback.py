"""Lightning's hooks that a run needs: a checkpoint every few steps, and at the end."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from lightning import Callback, LightningModule, Trainer

from toolorchestra.trainer.checkpoint import Checkpoints
from toolorchestra.trainer.module import OrchestratorModule


class SaveCheckpoints(Callback):
    """Saves after every `every`-th step, after the last one, and where the run is to stop."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        *,
        every: int,
        max_steps: int,
        is_to_stop: Callable[[], bool],
    ) -> None:
        """Takes when to save.

        Args:
            checkpoints: Where.
            every: Steps between two.
            max_steps: The last step.
            is_to_stop: Whether the run is to end after this step; the first rank is asked.
        """
        self._checkpoints, self._every, self._max_steps = checkpoints, every, max_steps
        self._is_to_stop = is_to_stop

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Saves where one is due."""
        assert isinstance(pl_module, OrchestratorModule)
        done = pl_module.next_step
        trainer.should_stop = pl_module.ranks.from_first(self._is_to_stop())
        if trainer.should_stop or done % self._every == 0 or done == self._max_steps:
            try:
                self._checkpoints.save(
                    done,
                    trainer.save_checkpoint,
                    is_first=trainer.is_global_zero,
                    wait=trainer.strategy.barrier,
                )
            except (OSError, RuntimeError) as error:
                if not _is_full_disk(error):
                    raise
                raise ValueError(
                    "the disk is full: the checkpoint was not written, those before it stand; "
                    "free space, then use resume=auto"
                ) from error


def _is_full_disk(error: BaseException) -> bool:
    """The error may be that of torch's writer of archives, which has its own words."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return "PytorchStreamWriter failed" in str(error) or "unexpected pos" in str(error)
