"""Options of the `benchmark` group."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.toolset.config import ToolsetConfig

RANDOM = "random"
REFERENCES = (RANDOM, "ablest", "cheapest")
"""Scripted policies that are played in every world, as `benchmark/baselines.py` calls them."""


@dataclass(kw_only=True)
class TransferConfig:
    """A second world to evaluate in: other tools, other prices (paper, section 6.3, Appendix H)."""

    toolset: ToolsetConfig
    pricing: PricingConfig
    num_episodes: int = 200
    """Held-out episodes of that world."""

    def __post_init__(self) -> None:
        if self.num_episodes < 2:
            raise ValueError(
                f"benchmark.transfer.num_episodes: {self.num_episodes} is not allowed; "
                "use at least 2"
            )


@dataclass(kw_only=True)
class BenchmarkConfig:
    """What a policy is measured on."""

    name: str
    dataset: DatasetConfig | None = None
    """Where its tasks come from, whatever a run trains on; null: the run's own dataset. Held-out
    tasks alone are played, which no run trains on."""
    num_episodes: int | None = 300
    """Held-out episodes with the run's own tools and prices; 0: no evaluation at all; null: as many
    as there are held-out tasks, each played once."""
    num_trials: int = 1
    """How often each policy plays each episode; every trial has luck and a sampling seed of its
    own."""
    is_greedy: bool = True
    """Whether the policy says what is likeliest (paper: temperature 0), or samples at temperature 1
    (the original's code)."""
    reference: str | None = None
    """Whom preference scores compare with (Eq. 5-6: M0), a scripted policy; null: the start in
    training (paper), "random" in an evaluation."""
    horizon: int = 4
    """Most paid calls that the oracle considers."""
    transfer: TransferConfig | None = None
    """The second world; null: none."""

    def __post_init__(self) -> None:
        if self.num_episodes is not None and (self.num_episodes < 0 or self.num_episodes == 1):
            raise ValueError(
                f"benchmark.num_episodes: {self.num_episodes} is not allowed; use 0 or at least 2, "
                "or null for each held-out task once"
            )
        if self.reference is not None and self.reference not in REFERENCES:
            raise ValueError(
                f"benchmark.reference: {self.reference!r} is not allowed; use "
                f"{', '.join(REFERENCES)} or null"
            )
        if self.num_trials < 1:
            raise ValueError(
                f"benchmark.num_trials: {self.num_trials} is not allowed; use a whole number from 1"
            )
        if not 1 <= self.horizon <= 6:
            raise ValueError(f"benchmark.horizon: {self.horizon} is not allowed; use 1 to 6")

    @property
    def world(self) -> str:
        """What tables call the world of its tasks; each domain of tau2-bench is one."""
        tau2 = None if self.dataset is None else self.dataset.tau2
        return self.name if tau2 is None else f"{self.name}_{tau2.domain}"

    @property
    def is_off(self) -> bool:
        """Whether nothing is to be evaluated."""
        return self.num_episodes == 0
