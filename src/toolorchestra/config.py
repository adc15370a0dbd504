"""The root of the config: every group with its schema.

Composing and checking it imports neither torch nor any of the project's machinery.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.benchmark.config import BenchmarkConfig
from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.domain.catalogue import Catalogue
from toolorchestra.dry_run.config import DryRunConfig
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.model.config import ModelConfig
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.provider.config import ProvidersConfig
from toolorchestra.report.config import LoggerConfig
from toolorchestra.reward.config import RewardConfig
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.server.config import ServerConfig
from toolorchestra.synthesis.commands import DescriptionsConfig, DomainConfig, PreferencesConfig
from toolorchestra.tool.expert_config import ExpertConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.user.config import UserConfig


@dataclass(kw_only=True)
class ExperimentConfig:
    """What a run belongs to: runs of one experiment are compared with each other."""

    name: str = "default"


@dataclass(kw_only=True)
class PlayConfig:
    """What every command needs: a policy, and worlds that it is played in."""

    toolset: ToolsetConfig
    provider: ProvidersConfig
    expert: ExpertConfig
    pricing: PricingConfig
    preference: PreferenceConfig
    dataset: DatasetConfig
    benchmark: BenchmarkConfig
    model: ModelConfig
    rollout: RolloutConfig
    user: UserConfig
    judge: JudgeConfig
    experiment: ExperimentConfig = field(default_factory=ExperimentConfig)
    max_cost_usd: float | None = None
    """What a run may really pay to providers, judges and users included: it then stops, a training
    after its step. None: anything."""
    seed: int = 1
    """Of episodes, sampling and everything else that is random."""
    output_root: str = "outputs"
    """Below it lie all runs; resume=auto looks there."""
    output_dir: str = "outputs/run"
    """Where this run writes; set from Hydra's own run and sweep folders."""

    @property
    def world(self) -> str:
        """What tables call the world of `toolset` and `pricing`."""
        return self.benchmark.world

    @property
    def heldout(self) -> DatasetConfig:
        """The dataset whose held-out tasks are evaluated on."""
        return self.benchmark.dataset or self.dataset

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that tasks of the run may belong to, in training or evaluation."""
        evaluated = () if self.benchmark.is_off else self.heldout.domains
        return tuple(dict.fromkeys((*self.dataset.domains, *evaluated)))

    @property
    def catalogue(self) -> Catalogue:
        """Finds these domains.

        Raises:
            ValueError: A name means one folder in training and another in the evaluation.
        """
        own, evaluated = self.dataset.catalogue.folders, self.heldout.catalogue.folders
        for name in own.keys() & evaluated.keys():
            if own[name] != evaluated[name]:
                raise ValueError(
                    f"benchmark.dataset.domain.folders.{name}: {evaluated[name].folder} is not "
                    f"allowed beside dataset.domain.folders.{name}={own[name].folder}; use one "
                    "folder and one sandbox for a name"
                )
        return Catalogue(folders={**own, **evaluated})


@dataclass(kw_only=True)
class Config(PlayConfig):
    """One training run."""

    reward: RewardConfig
    algorithm: AlgorithmConfig
    trainer: TrainerConfig
    logger: LoggerConfig
    launcher: LauncherConfig = field(default_factory=LauncherConfig)
    callbacks: dict[str, Any] = field(default_factory=dict)
    """Lightning callbacks by name, each a `_target_` node."""
    dry_run: DryRunConfig = field(default_factory=DryRunConfig)
    resume: str | None = None
    """auto: go on with the newest unfinished run of this very config; or a run's folder."""

    def __post_init__(self) -> None:
        if self.dataset.is_heldout:
            raise ValueError(
                f"dataset.is_heldout: true is not allowed in training, and {self.dataset.name} has "
                "held-out tasks alone; use another dataset, and this one in benchmark.dataset"
            )
        if self.model.api is not None:
            raise ValueError(
                f"model.api: {self.model.name} is not allowed in training, as a model behind an "
                "API has no weights here; use evaluate.py, or another model"
            )

    @property
    def world(self) -> str:
        """The policy has been trained in it, unless the benchmark has tasks of its own."""
        return "seen" if self.benchmark.dataset is None else self.benchmark.world


@dataclass(kw_only=True)
class EvaluateConfig(PlayConfig):
    """One evaluation of a policy as it is."""

    num_threads: int = 0
    """CPU threads of torch; 0: all cores."""
    resume: str | None = None
    """auto: go on with the newest unfinished evaluation of this very config; or its folder. A
    folder that holds an unfinished one, named by hydra.run.dir, is gone on with by itself."""
    confirm_above_usd: float = 5.0
    """Where providers are likely to be paid more than this, somebody is asked first."""
    yes: bool = False
    """Whether that was answered already, with yes."""

    def __post_init__(self) -> None:
        if not self.confirm_above_usd >= 0:
            raise ValueError(
                f"confirm_above_usd: {self.confirm_above_usd} is not allowed; use dollars from 0"
            )
        if self.num_threads < 0:
            raise ValueError(
                f"num_threads: {self.num_threads} is not allowed; use a whole number from 0"
            )


@dataclass(kw_only=True)
class ServeConfig:
    """Servers of a toolset's open-weight experts."""

    toolset: ToolsetConfig
    server: ServerConfig
    launcher: LauncherConfig = field(default_factory=LauncherConfig)
    action: str = "start"
    """start, status or stop."""
    only: list[str] = field(default_factory=list)
    """Tools or services to start or stop; none: all of the toolset that have a server, or, to stop,
    all that run."""
    registry: str = "outputs/servers"
    """The folder, shared by all machines, where servers register and tools look for them."""

    def __post_init__(self) -> None:
        if self.action not in ("start", "status", "stop"):
            raise ValueError(f"action: {self.action!r} is not allowed; use start, status or stop")


@dataclass(kw_only=True)
class RepriceConfig:
    """A pricing to recompute the costs of finished runs under."""

    pricing: PricingConfig
    out: str | None = None
    """Where tables go; none: the run's folder, or the one that holds all runs."""


@dataclass(kw_only=True)
class RescoreConfig:
    """A judge to judge the recorded rollouts of an evaluation by."""

    judge: JudgeConfig
    pricing: PricingConfig
    provider: ProvidersConfig
    name: str | None = None
    """Of the folder below `rescored/` in the run's; null: the judge's name, and its model's."""
    confirm_above_usd: float = 5.0
    """Where judging is likely to cost more than this, somebody is asked first."""
    yes: bool = False
    """Whether that was answered already, with yes."""
    output_root: str = "outputs"
    """Below it the judge keeps what it has judged."""

    def __post_init__(self) -> None:
        if self.name is not None and not re.fullmatch(r"[\w.-]*\w", self.name):
            raise ValueError(
                f"name: {self.name!r} is not allowed; use letters, digits, '_', '-' and '.'"
            )


@dataclass(kw_only=True)
class AgreementConfig:
    """A comparison of two judges on answers that are there already."""

    first: JudgeConfig
    second: JudgeConfig
    pricing: PricingConfig
    provider: ProvidersConfig
    file: str
    """Trajectories of a run, or lines with question, answer and given."""
    out: str = "disagreements.jsonl"
    """Where the answers are written on which the judges differ."""
    output_root: str = "outputs"


def register() -> None:
    """Stores the schemas that the files of `conf/` build on which are named like a command."""
    store = ConfigStore.instance()
    store.store(name="schema", node=Config)
    store.store(name="evaluate_schema", node=EvaluateConfig)
    store.store(name="serve_schema", node=ServeConfig)
    store.store(name="rescore_schema", node=RescoreConfig)
    store.store(name="reprice_schema", node=RepriceConfig)
    store.store(name="agreement_schema", node=AgreementConfig)
    store.store(name="descriptions_schema", node=DescriptionsConfig)
    store.store(name="preferences_schema", node=PreferencesConfig)
    store.store(name="domain_schema", node=DomainConfig)
