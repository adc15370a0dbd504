"""The LightningModule: collects a step's data, updates the weights once, logs. It only wires."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import torch
from lightning import LightningModule
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedModel

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.collect import StepData
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.update import accumulate_gradients


class StepSource(Protocol):
    """Where each step's data come from."""

    def collect(self, version: int) -> StepData:
        """The next step's data, for weights of this version."""
        ...

    def state(self) -> dict[str, Any]:
        """What a checkpoint must keep."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from a checkpoint."""
        ...


class OrchestratorModule(LightningModule):
    """GRPO on the policy `model`.

    A "batch" is a step's number; its data are collected inside `training_step`, since how far they
    are sampled ahead of the weights is the pool's business, not a data loader's.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        source: StepSource,
        on_updated: Callable[[int], Mapping[str, float]],
        on_step: Callable[[int, StepData, dict[str, float]], None],
        trainer_config: TrainerConfig,
        algorithm: AlgorithmConfig,
        max_sampled_tokens: int,
        reference: PreTrainedModel | None = None,
    ) -> None:
        """Wires.

        Args:
            model: Trained in place.
            source: Plays and scores the groups of each step.
            on_updated: Hears the weight version when training begins and after each update, and
                brings the weights to where they are sampled from; gives metrics of that.
            on_step: Hears of each step, its data and all its metrics.
            trainer_config: The `trainer` group.
            algorithm: The `algorithm` group.
            max_sampled_tokens: Tokens that one rollout could have sampled.
            reference: For a KL term alone; held apart from what is trained and saved.
        """
        super().__init__()
        self.automatic_optimization = False
        self.model = model
        self.next_step = 0
        self.version = 0
        self._source, self._on_updated, self._on_step = source, on_updated, on_step
        self._config, self._algorithm = trainer_config, algorithm
        self._max_sampled_tokens = max_sampled_tokens
        self._reference = [reference]  # in a list, so that Lightning does not register it
        self._bad_steps = 0

    def train_dataloader(self) -> DataLoader[int]:
        """One item a step; which step it is, the module itself knows, across resumes too."""
        steps: Any = range(self._config.max_steps)
        return DataLoader(steps, batch_size=None)

    def on_train_start(self) -> None:
        """Sampling begins with the weights as they are, be it from a checkpoint."""
        self._on_updated(self.version)

    def training_step(self, _: int, batch_idx: int) -> None:
        """One step: collect, update, log."""
        step = self.next_step
        if step >= self._config.max_steps:
            return
        data = self._source.collect(self.version)
        start_s = time.perf_counter()
        metrics = self._update(data) if data.rows else {}
        metrics = data.metrics | metrics | {"time/update_s": time.perf_counter() - start_s}
        metrics["version"] = float(self.version)
        self.next_step = step + 1
        self._on_step(step, data, metrics)

    def _update(self, data: StepData) -> dict[str, float]:
        optimizer: Any = self.optimizers()
        self.model.train()
        optimizer.zero_grad()
        stats, num_tokens = accumulate_gradients(
            self.model,
            data.rows,
            algorithm=self._algorithm,
            max_tokens=self._max_sampled_tokens,
            micro_batch_tokens=self._config.micro_batch_tokens,
            backward=self.manual_backward,
            reference=self._reference[0],
        )
        norm = self._clip()
        metrics = {f"update/{name}": value for name, value in stats.items()}
        metrics |= {"update/grad_norm": norm, "tokens/trained": float(num_tokens)}
        if not math.isfinite(stats["loss"]) or not math.isfinite(norm):
            self._skip(data)
            return metrics
        self._bad_steps = 0
        schedule: Any = self.lr_schedulers()
        metrics["update/learning_rate"] = float(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
        self.version += 1
        return metrics | dict(self._on_updated(self.version))

    def _clip(self) -> float:
        limit = self._config.clip_norm or math.inf
        return float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit))

    def _skip(self, data: StepData) -> None:
        """Leaves the weights alone; stops where this goes on."""
        self._bad_steps += 1
        if self._bad_steps >= self._config.max_bad_steps:
            raise ValueError(
                f"loss or gradient was not finite in {self._bad_steps} steps running, last with "
                f"episode {data.groups[0].episode.id}; lower trainer.learning_rate, or resume from "
                "an earlier checkpoint"
            )

    def configure_optimizers(self) -> Any:
        """AdamW with warm-up."""
        config = self._config
        optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            weight_decay=config.weight_decay,
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, self._rate)
        return [optimizer], [schedule]

    def _rate(self, update: int) -> float:
        config = self._config
        rise = min(1.0, (update + 1) / (config.warmup_steps + 1))
        if config.schedule == "constant":
            return rise
        return rise * (1.0 - 0.9 * min(1.0, update / max(config.max_steps - 1, 1)))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Adds the counters that Lightning does not know."""
        checkpoint["toolorchestra"] = {
            "next_step": self.next_step,
            "version": self.version,
            "source": self._source.state(),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Takes the counters back."""
        counters = checkpoint["toolorchestra"]
        self.next_step, self.version = counters["next_step"], counters["version"]
        self._source.restore(counters["source"])

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of a batch of ids, for those who export or inspect the module."""
        logits: Tensor = self.model(input_ids=ids).logits
        return logits
