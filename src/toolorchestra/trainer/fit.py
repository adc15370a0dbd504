"""Trains a module under Lightning, on one rank or many; called alike on every rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from lightning import Callback, Trainer
from lightning.fabric.plugins.environments.lightning import LightningEnvironment

from toolorchestra.trainer.callback import SaveCheckpoints
from toolorchestra.trainer.checkpoint import FOLDER, STATE, Checkpoints, next_step_of
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.module import OrchestratorModule
from toolorchestra.trainer.strategy import PRECISIONS, make_strategy, uses_gpu


def checkpoints_of(run_dir: Path, config: TrainerConfig, *, model: Any, dtype: str) -> Checkpoints:
    """The checkpoints of a run, and what a trainer must be like to read them.

    Args:
        run_dir: The run's folder.
        config: The `trainer` group.
        model: The policy's config, as transformers has it.
        dtype: Precision of its weights.
    """
    is_divided = config.strategy == "deepspeed"
    return Checkpoints(
        run_dir / FOLDER,
        keep=config.keep_checkpoints,
        keep_one_every_s=3600 * config.keep_one_every_h,
        writer={
            "trainer.strategy": config.strategy,
            "trainer.zero_stage": config.zero_stage if is_divided else None,
            "trainer.devices x trainer.num_nodes": config.num_ranks,
            "model.dtype": dtype,
            "a model of type": model.model_type,
            "a vocabulary of": model.vocab_size,
            "a width of": model.hidden_size,
            "layers": model.num_hidden_layers,
        },
    )


def fit(
    module: OrchestratorModule,
    config: TrainerConfig,
    *,
    dtype: str,
    checkpoints: Checkpoints,
    resume_from: Path | None,
    is_to_stop: Callable[[], bool] = lambda: False,
    callbacks: Iterable[Callback] = (),
) -> None:
    """Trains up to the last step, or the one after which it is to stop.

    Args:
        module: What is trained.
        config: The `trainer` group.
        dtype: Precision of its weights.
        checkpoints: Where it is saved.
        resume_from: A complete checkpoint among them, or none.
        is_to_stop: Asked on the first rank after each step.
        callbacks: Lightning's hooks, beside the one that saves.

    Raises:
        ValueError: The checkpoint is damaged.
    """
    saving = SaveCheckpoints(
        checkpoints,
        every=config.checkpoint_every,
        max_steps=config.max_steps,
        is_to_stop=is_to_stop,
    )
    trainer = Trainer(
        accelerator="gpu" if uses_gpu(config) else "cpu",
        devices=config.devices,
        num_nodes=config.num_nodes,
        strategy=make_strategy(config, dtype=dtype),
        # the ranks are started by us; on a cluster, Lightning's guess would be another
        plugins=[LightningEnvironment()],
        # plain weights keep the precision that they were loaded in
        precision=cast(Any, PRECISIONS[dtype] if config.strategy == "deepspeed" else None),
        max_epochs=1,
        use_distributed_sampler=False,  # every rank takes every step
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[saving, *callbacks],
    )
    module.train()
    try:
        state = resume_from / STATE if resume_from else None
        trainer.fit(module, ckpt_path=state, weights_only=True)
    except Exception as error:
        if resume_from is None or module.has_begun:
            raise
        raise ValueError(
            f"resume: {resume_from} cannot be read ({type(error).__name__}); delete it to resume "
            "from the one before, or start anew without resume"
        ) from error


def first_step(resume_from: Path | None) -> int:
    """The step that a checkpoint goes on with; 0 without one."""
    return next_step_of(resume_from) if resume_from else 0
