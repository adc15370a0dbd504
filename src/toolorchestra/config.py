"""The root of the config: every group with its schema.

Composing and checking it imports neither torch nor any of the project's machinery.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.benchmark.config import BenchmarkConfig
from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.model.config import ModelConfig
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.report.config import LoggerConfig
from toolorchestra.reward.config import RewardConfig
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.trainer.config import TrainerConfig


@dataclass(kw_only=True)
class ExperimentConfig:
    """What a run belongs to: runs of one experiment are compared with each other."""

    name: str = "default"


@dataclass(kw_only=True)
class Config:
    """One training run."""

    toolset: ToolsetConfig
    pricing: PricingConfig
    preference: PreferenceConfig
    reward: RewardConfig
    dataset: DatasetConfig
    benchmark: BenchmarkConfig
    model: ModelConfig
    rollout: RolloutConfig
    algorithm: AlgorithmConfig
    trainer: TrainerConfig
    logger: LoggerConfig
    callbacks: dict[str, Any] = field(default_factory=dict)
    """Lightning callbacks by name, each a `_target_` node."""
    experiment: ExperimentConfig = field(default_factory=ExperimentConfig)
    seed: int = 1
    """Of episodes, sampling and everything else that is random."""
    output_root: str = "outputs"
    """Below it lie all runs; resume=auto looks there."""
    output_dir: str = "outputs/run"
    """Where this run writes; set from Hydra's own run and sweep folders."""
    resume: str | None = None
    """auto: go on with the newest unfinished run of this very config; or a run's folder."""


def register() -> None:
    """Stores the schema that `conf/train.yaml` builds on."""
    ConfigStore.instance().store(name="schema", node=Config)
