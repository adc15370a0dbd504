"""Options of a dry run: the GPU, and what has to be assumed of rollouts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(kw_only=True)
class DryRunConfig:
    """With `gpu`, memory and time of a run are reckoned and printed, and nothing is run."""

    gpu: str | None = None
    """Kind of GPU, e.g. h100_80gb; null: no dry run. Their number is that of the run's options."""
    reserve_gib: float = 4.0
    """Memory of a GPU that no tensor can have: CUDA, NCCL, CUDA graphs, fragmentation."""
    mfu: float = 0.4
    """Share of the GPU's peak that update and prefill reach (model FLOPs utilization)."""
    bandwidth_use: float = 0.8
    """Share of its memory bandwidth that decoding reaches."""
    rollout_tokens: int | None = None
    """Mean tokens of a rollout; null: three eighths of model.max_context, 12,000 of 32,000."""
    prompt_share: float = 0.25
    """Of these, what the rollouts of a group begin with alike."""
    sampled_share: float = 0.25
    """Of these, what the policy samples; the rest is what tools say."""
    num_turns: int = 8
    """Mean turns of a rollout, each with one round of tool calls."""
    tool_s: float = 10.0
    """Mean seconds of such a round."""
    transfer_gb_per_s: float | None = None
    """Gigabytes of weights a second to a vLLM worker; null: 2 by file, 50 by nccl or ipc."""

    def __post_init__(self) -> None:
        """Checks ranges.

        Raises:
            ValueError: Names the key, its value and what is allowed.
        """
        for key in ("mfu", "bandwidth_use"):
            self._require(key, 0 < getattr(self, key) <= 1, "a share above 0, at most 1")
        for key in ("prompt_share", "sampled_share"):
            self._require(key, 0 < getattr(self, key) < 1, "a share above 0, below 1")
        for key in ("reserve_gib", "tool_s"):
            self._require(key, 0 <= getattr(self, key) < math.inf, "a number from 0")
        self._require("num_turns", self.num_turns >= 1, "a whole number from 1")
        tokens, speed = self.rollout_tokens, self.transfer_gb_per_s
        self._require("rollout_tokens", tokens is None or tokens >= 4, "4 or more, or null")
        self._require("transfer_gb_per_s", speed is None or speed > 0, "more than 0, or null")
        rest = 1 - self.prompt_share
        self._require("sampled_share", self.sampled_share <= rest, f"at most {rest:g}")

    def _require(self, key: str, is_met: bool, allowed: str) -> None:
        if not is_met:
            value = getattr(self, key)
            raise ValueError(f"dry_run.{key}: {value!r} is not allowed; use {allowed}")
