"""The options of the policy-gradient update. The defaults are GRPO as the paper trains it."""

from __future__ import annotations

from dataclasses import dataclass

CHOICES = {
    "loss": ("grpo", "gspo", "cispo"),
    "advantage": ("group", "leave_one_out", "no_std"),
    "kl": ("none", "k1", "k2", "k3"),
    "aggregation": ("token_mean", "sequence_mean", "dr_grpo"),
    "old_policy": ("sampler", "trainer"),
}


@dataclass(kw_only=True)
class AlgorithmConfig:
    """Schema of the group `algorithm`."""

    name: str = "grpo"
    """For tables and run names."""
    group_size: int = 8
    """Rollouts of each episode (paper: rollout batch 8)."""
    loss: str = "grpo"
    """`grpo`: a clipped ratio a token; `gspo`: one a sequence; `cispo`: a clipped weight."""
    advantage: str = "group"
    """`group`: (R - mean) / std (Eq. 3); `leave_one_out`: R - mean of the others;
    `no_std`: R - mean."""
    advantage_clip: float = 3.0
    """Bound on |A| (original code: 3). 0: none."""
    clip_low: float = 0.2
    """The ratio is clipped below at 1 - this (original code: 0.2)."""
    clip_high: float = 0.28
    """The ratio is clipped above at 1 + this (original code: 0.28)."""
    dual_clip: float = 10.0
    """With A < 0 a token's loss is at most this times |A| (original code: 10). 0: no bound."""
    old_policy: str = "sampler"
    """What the ratio divides by. `sampler`: the log-probabilities recorded while sampling, so that
    the ratio itself corrects for stale weights; `trainer`: those of the trainer's weights when the
    step begins, and then a truncated importance weight corrects for the sampler."""
    tis_cap: float = 2.0
    """Bound of that importance weight, with old_policy=trainer."""
    geometric_low: float = 0.8
    """A sequence whose geometric-mean ratio to the sampler is below this gets no loss."""
    geometric_high: float = 1.25
    """The same, above."""
    kl: str = "none"
    """Estimator of the divergence from the reference policy."""
    kl_coef: float = 0.0
    """Weight of that divergence in the loss (original code: 1e-4 with k2; paper: no such term)."""
    entropy_coef: float = 0.0
    """Weight of the entropy bonus in the loss."""
    aggregation: str = "token_mean"
    """`token_mean`: every loss token weighs the same; `sequence_mean`: every sequence does;
    `dr_grpo`: the sum over tokens, divided by sequences times the longest possible one."""
    homogeneity_std: float = 0.1
    """A group whose rewards deviate less (population std) is dropped (paper: 0.1). 0: none is."""
    drop_malformed: bool = True
    """Whether rollouts with a malformed or impossible call get no loss (paper: yes). If not, they
    are trained on as failures, whatever they came to."""
    drop_invalid: bool = True
    """Whether rollouts without an answer get no loss (paper: yes)."""

    def __post_init__(self) -> None:
        """Checks choices and ranges.

        Raises:
            ValueError: Names the key, its value and what is allowed.
        """
        for key, allowed in CHOICES.items():
            self._require(key, getattr(self, key) in allowed, f"one of {', '.join(allowed)}")
        self._require("group_size", self.group_size >= 1, "a whole number from 1 up")
        self._require("clip_low", 0 < self.clip_low <= 1, "a number above 0, at most 1")
        self._require("clip_high", self.clip_high > 0, "a number above 0")
        self._require(
            "dual_clip", self.dual_clip == 0 or self.dual_clip > 1, "0 or a number above 1"
        )
        self._require("tis_cap", self.tis_cap >= 1, "a number from 1 up")
        self._require("geometric_low", 0 <= self.geometric_low <= 1, "a number from 0 to 1")
        self._require("geometric_high", self.geometric_high >= 1, "a number from 1 up")
        for key in ("advantage_clip", "kl_coef", "entropy_coef", "homogeneity_std"):
            self._require(key, getattr(self, key) >= 0, "a number from 0 up")
        self._require("kl", self.kl != "none" or self.kl_coef == 0, "k1, k2 or k3 with kl_coef")

    def _require(self, key: str, is_met: bool, allowed: str) -> None:
        if not is_met:
            value = getattr(self, key)
            raise ValueError(f"algorithm.{key}: {value!r} is not allowed; use {allowed}")
