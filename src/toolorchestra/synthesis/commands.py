"""What the commands of `synthesize.py` take."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.domain.load import SHIPPED
from toolorchestra.preference.config import TableConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.provider.config import ProvidersConfig
from toolorchestra.synthesis.config import AskedConfig, AskedModel, WriterConfig
from toolorchestra.synthesis.domain.config import CountsConfig, SolverConfig
from toolorchestra.tool.expert_config import ExpertConfig
from toolorchestra.toolset.config import ToolsetConfig


@dataclass(kw_only=True)
class DescriptionsConfig:
    """Descriptions of a toolset's models, written by another model."""

    toolset: ToolsetConfig
    provider: ProvidersConfig
    expert: ExpertConfig
    pricing: PricingConfig
    dataset: DatasetConfig
    writer: WriterConfig
    tools: list[str] = field(default_factory=list)
    """Which to describe; none: all models of the toolset."""
    num_tasks: int = 10
    """Tasks that each is given, the same for all (the paper: 10)."""
    seed: int = 1
    """Of the tasks."""
    priced_as: str = "tiny-policy"
    """Stands in for a policy's price, which nothing here depends on."""
    out: str = "outputs/descriptions"
    """The folder: one file a tool, with all that its description rests on."""

    def __post_init__(self) -> None:
        if self.num_tasks < 1:
            raise ValueError(
                f"num_tasks: {self.num_tasks} is not allowed; use a whole number from 1"
            )


@dataclass(kw_only=True)
class PreferencesConfig:
    """A table of preference pairs for a toolset."""

    toolset: ToolsetConfig
    provider: ProvidersConfig
    pricing: PricingConfig
    proposer: AskedConfig
    validator: AskedConfig
    source: str = "models"
    """models: one proposes, another validates; templates: no model is asked."""
    table: TableConfig = field(default_factory=TableConfig)
    """Of the templates."""
    num_batches: int = 4
    """Requests to the proposer for each kind."""
    batch_size: int = 10
    """Pairs that each request asks for."""
    eval_parts: int = 4
    """One pair in so many is for evaluation."""
    max_concurrent: int = 16
    """Requests at once, within the provider's own limits."""
    out: str = "outputs/preferences"
    """The folder: pairs, rejections, and every reply with what it cost."""

    def __post_init__(self) -> None:
        self.proposer.check("proposer")
        self.validator.check("validator")
        if self.source not in ("models", "templates"):
            raise ValueError(f"source: {self.source!r} is not allowed; use models or templates")
        if self.validator.model == self.proposer.model:
            raise ValueError(
                f"validator.model: {self.validator.model} is not allowed, as it is the proposer; "
                "use another model"
            )
        for key, least in (
            ("num_batches", 1),
            ("batch_size", 1),
            ("eval_parts", 2),
            ("max_concurrent", 1),
        ):
            if getattr(self, key) < least:
                raise ValueError(
                    f"{key}: {getattr(self, key)} is not allowed; use a whole number from {least}"
                )


@dataclass(kw_only=True)
class DomainConfig:
    """A domain with tasks, written by models."""

    provider: ProvidersConfig
    pricing: PricingConfig
    writer: AskedModel
    """Of everything but verdicts."""
    validator: AskedModel
    """Says which records are plausible."""
    solver: SolverConfig
    out: str
    """The folder: the domain, what each stage took, rejections, and every reply with its cost."""
    domain: str = ""
    """Its name."""
    subject: str = ""
    """What it is about, in free words; empty: the writer says it."""
    counts: CountsConfig = field(default_factory=CountsConfig)
    max_concurrent: int = 16
    """Requests at once, within the provider's own limits."""

    def __post_init__(self) -> None:
        self.writer.check("writer")
        self.validator.check("validator")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.domain):
            raise ValueError(f"domain: {self.domain!r} is not allowed; use lower-case letters")
        if self.domain in SHIPPED:
            raise ValueError(
                f"domain: {self.domain} is not allowed, as it ships with the project; use another "
                "name"
            )
        if self.validator.model == self.writer.model:
            raise ValueError(
                f"validator.model: {self.validator.model} is not allowed, as it is the writer; use "
                "another model"
            )
        if self.max_concurrent < 1:
            raise ValueError(
                f"max_concurrent: {self.max_concurrent} is not allowed; use a whole number from 1"
            )
