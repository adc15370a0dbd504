"""Options of the `trainer` group."""

from __future__ import annotations

import math
from dataclasses import dataclass

SCHEDULES = ("constant", "linear")


@dataclass(kw_only=True)
class TrainerConfig:
    """How long training runs, and how each step updates the weights."""

    name: str = "cpu"
    max_steps: int = 120
    """Steps: each plays its episodes and updates the weights at most once."""
    episodes_per_step: int = 16
    """Groups of rollouts a step (paper: training batch 16)."""
    learning_rate: float = 1e-6
    """Peak rate of AdamW (paper: 1e-6)."""
    schedule: str = "constant"
    """Learning rate after warm-up: "constant", or "linear" down to a tenth at the last step."""
    warmup_steps: int = 0
    """Steps over which the rate rises from 0."""
    beta1: float = 0.9
    beta2: float = 0.99
    weight_decay: float = 0.0
    clip_norm: float = 1.0
    """Gradients are scaled down to this norm; 0: never."""
    micro_batch_tokens: int = 32768
    """Padded tokens of one forward and backward pass."""
    max_bad_steps: int = 3
    """Steps in a row whose loss or gradient is not finite before the run stops."""
    checkpoint_every: int = 10
    """Steps between checkpoints; the last step always makes one."""
    keep_checkpoints: int = 2
    """Newest checkpoints kept."""
    num_threads: int = 0
    """CPU threads of torch; 0: all cores."""

    def __post_init__(self) -> None:
        for key in ("episodes_per_step", "micro_batch_tokens", "max_bad_steps"):
            self._require(key, getattr(self, key) >= 1, "a whole number from 1")
        for key in ("checkpoint_every", "keep_checkpoints"):
            self._require(key, getattr(self, key) >= 1, "a whole number from 1")
        for key in ("max_steps", "warmup_steps", "num_threads"):
            self._require(key, getattr(self, key) >= 0, "a whole number from 0")
        for key in ("weight_decay", "clip_norm"):
            self._require(key, 0 <= getattr(self, key) < math.inf, "a finite number from 0")
        for key in ("beta1", "beta2"):
            self._require(key, 0 <= getattr(self, key) < 1, "a number from 0, below 1")
        self._require("learning_rate", 0 < self.learning_rate < math.inf, "a number above 0")
        self._require("schedule", self.schedule in SCHEDULES, " or ".join(SCHEDULES))

    def _require(self, key: str, is_met: bool, allowed: str) -> None:
        if not is_met:
            value = getattr(self, key)
            raise ValueError(f"trainer.{key}: {value!r} is not allowed; use {allowed}")
