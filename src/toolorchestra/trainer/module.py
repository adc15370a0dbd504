"""The LightningModule: collects a step's data, updates the weights once, logs. It only wires."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Protocol

import torch
from lightning import LightningModule
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedModel

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.batch import MicroBatch
from toolorchestra.trainer.collect import StepData
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.flops import costs_of
from toolorchestra.trainer.logprobs import TokenScores, score_tokens
from toolorchestra.trainer.optimizer import make_optimizer
from toolorchestra.trainer.ranks import Ranks
from toolorchestra.trainer.stepper import Stepper, make_stepper
from toolorchestra.trainer.strategy import whole_weights
from toolorchestra.trainer.update import accumulate_gradients

log = logging.getLogger(__name__)


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


class Outside(Protocol):
    """The rest of the run, which only the first rank is connected with."""

    @property
    def source(self) -> StepSource:
        """Where each step's data come from."""
        ...

    def take_weights(self, version: int) -> Mapping[str, float]:
        """Hears of weights, when training begins and after each update; gives metrics of it."""
        ...

    def needs_weights(self) -> bool:
        """Whether it must take them although they are as before."""
        ...

    def record(self, step: int, data: StepData, metrics: dict[str, float]) -> None:
        """Hears of each step, its data and all its metrics."""
        ...

    def take_result(self) -> None:
        """Hears of the last weights."""
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
        outside: Outside | None,
        trainer_config: TrainerConfig,
        algorithm: AlgorithmConfig,
        max_sampled_tokens: int,
        reference: PreTrainedModel | None = None,
    ) -> None:
        """Wires.

        Args:
            model: Trained in place.
            outside: On the first rank, where data come from and weights go to; none on others.
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
        self.has_begun = False
        self._outside = outside
        self._config, self._algorithm = trainer_config, algorithm
        self._max_sampled_tokens = max_sampled_tokens
        self._reference = [reference]  # in a list, so that Lightning does not register it
        self._bad_steps = 0
        self._rng: Tensor | None = None
        self._stepper: Stepper

    @cached_property
    def ranks(self) -> Ranks:
        """All that train along."""
        return Ranks()

    def train_dataloader(self) -> DataLoader[int]:
        """One item a step; which step it is, the module itself knows, across resumes too."""
        steps: Any = range(self._config.max_steps)
        return DataLoader(steps, batch_size=None)

    def on_train_start(self) -> None:
        """Sampling begins with the weights as they are, be it from a checkpoint."""
        self.has_begun = True
        self._stepper = make_stepper(self, clip_norm=self._config.clip_norm)
        if (reference := self._reference[0]) is not None:
            torch.nn.Module.to(reference, self.device)
        self._hand_on()

    def training_step(self, _: int, batch_idx: int) -> None:
        """One step: collect, update, hand on, log."""
        step, version = self.next_step, self.version
        if step >= self._config.max_steps:
            return
        if self._rng is not None:  # only now, as Lightning draws from it until here
            torch.set_rng_state(self._rng)
            self._rng = None
        data = self.ranks.made_by_first(self._collect, shown=_without_groups)
        start_s = time.perf_counter()
        metrics = self._update(data) if data.rows else {}
        if self.version != version or self.ranks.from_first(self._needs_weights()):
            metrics |= self._hand_on()
        metrics = data.metrics | metrics | {"time/update_s": time.perf_counter() - start_s}
        metrics["version"] = float(self.version)
        self.next_step = step + 1
        if self._outside is not None:
            self._outside.record(step, data, metrics)

    def on_train_end(self) -> None:
        """Weights that are divided among ranks are put together a last time."""
        with whole_weights(self.model, self._config):
            if self._outside is not None:
                self._outside.take_result()

    def _collect(self) -> StepData:
        assert self._outside is not None
        return self._outside.source.collect(self.version)

    def _needs_weights(self) -> bool:
        return self._outside is not None and self._outside.needs_weights()

    def _hand_on(self) -> dict[str, float]:
        """Brings the weights to where they are sampled from."""
        with whole_weights(self.model, self._config):
            return {} if self._outside is None else dict(self._outside.take_weights(self.version))

    def _update(self, data: StepData) -> dict[str, float]:
        self.model.train()
        reference = self._reference[0]
        try:
            gradients = accumulate_gradients(
                self._pass_through,
                data.rows,
                costs=costs_of(self.model.config),
                algorithm=self._algorithm,
                trainer=self._config,
                max_tokens=self._max_sampled_tokens,
                backward=self._stepper.backward,
                ranks=self.ranks,
                reference=None if reference is None else partial(score_tokens, reference),
            )
        except torch.OutOfMemoryError as error:
            raise ValueError(
                f"trainer.micro_batch_tokens: {self._config.micro_batch_tokens} do not fit into "
                "the memory; lower it, or use trainer.activation_checkpointing=true or a higher "
                "trainer.zero_stage"
            ) from error
        schedule: Any = self.lr_schedulers()
        rate = float(schedule.get_last_lr()[0])
        norm, is_applied = self._stepper.step(is_finite=not gradients.not_finite)
        metrics = {f"update/{name}": value for name, value in gradients.metrics.items()}
        metrics |= {"update/grad_norm": norm, "tokens/trained": float(gradients.num_tokens)}
        if not is_applied:
            self._tell_skipped(gradients.not_finite)
            return metrics
        self._bad_steps = 0
        metrics["update/learning_rate"] = rate
        schedule.step()
        self.version += 1
        return metrics

    def _pass_through(self, batch: MicroBatch) -> TokenScores:
        """Scores by way of whatever the strategy has wrapped around this module."""
        wrapped: Any = self.trainer.strategy.model
        scores: TokenScores = wrapped(batch)
        return scores

    def _tell_skipped(self, rollouts: Sequence[str]) -> None:
        """Says whose fault it is that nothing was updated; stops where this goes on."""
        self._bad_steps += 1
        names = ", ".join(rollouts[:3]) or "no single rollout"
        more = f" and {len(rollouts) - 3} more" if len(rollouts) > 3 else ""
        reason = f"loss or gradient was not finite ({names}{more})"
        log.warning("step %d updates nothing: %s", self.next_step, reason)
        if self._bad_steps >= self._config.max_bad_steps:
            raise ValueError(
                f"{reason} in {self._bad_steps} steps running; lower trainer.learning_rate, or "
                "resume from an earlier checkpoint"
            )

    def configure_optimizers(self) -> Any:
        """AdamW with warm-up."""
        optimizer = make_optimizer(self.model.parameters(), self._config)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, self._rate)
        return [optimizer], [schedule]

    def _rate(self, update: int) -> float:
        config = self._config
        rise = min(1.0, (update + 1) / (config.warmup_steps + 1))
        if config.schedule == "constant":
            return rise
        return rise * (1.0 - 0.9 * min(1.0, update / max(config.max_steps - 1, 1)))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Adds what Lightning does not know; called on all ranks."""
        checkpoint["toolorchestra"] = {
            "next_step": self.next_step,
            "version": self.version,
            "source": self.ranks.from_first(
                None if self._outside is None else self._outside.source.state()
            ),
            "rng": self.ranks.from_all(torch.get_rng_state()),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Takes it back."""
        kept = checkpoint["toolorchestra"]
        self.next_step, self.version = kept["next_step"], kept["version"]
        if self._outside is not None:
            self._outside.source.restore(kept["source"])
        self._rng = kept["rng"][self.ranks.rank]

    def forward(self, batch: MicroBatch) -> TokenScores:
        """Scores a micro-batch."""
        return score_tokens(self.model, batch)


def _without_groups(data: StepData) -> StepData:
    """What other ranks need of a step's data."""
    return replace(data, groups=())
