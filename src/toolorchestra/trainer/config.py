"""Options of the `trainer` group."""

from __future__ import annotations

import math
from dataclasses import dataclass

CHOICES = {
    "schedule": ("constant", "linear"),
    "strategy": ("single", "deepspeed"),
    "accelerator": ("auto", "cpu", "gpu"),
    "optimizer": ("adamw", "adamw_fused", "adamw_8bit"),
}
ZERO_STAGES = (0, 1, 2, 3)


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
    optimizer: str = "adamw"
    """"adamw"; "adamw_fused", one kernel for all weights; "adamw_8bit", whose moments take a
    quarter of the memory (bitsandbytes, on a GPU)."""
    micro_batch_tokens: int = 32768
    """Most tokens of one forward and backward pass; those that rows share count once."""
    share_prefixes: bool = True
    """Whether what the rows of a micro-batch begin with alike is computed once."""
    activation_checkpointing: bool = False
    """Whether layers are computed again in the backward pass rather than kept: about a third more
    time, far less memory."""
    strategy: str = "single"
    """"single": one process, plain PyTorch; "deepspeed": any number of them."""
    zero_stage: int = 1
    """What DeepSpeed divides among the ranks: 0 nothing, 1 optimizer states, 2 gradients too, 3
    weights too."""
    offload_optimizer: bool = False
    """Whether DeepSpeed keeps optimizer states in the CPU's memory."""
    accelerator: str = "auto"
    """"auto": a GPU where there is one."""
    devices: int = 1
    """Training ranks on each node, one device each."""
    num_nodes: int = 1
    max_bad_steps: int = 3
    """Steps in a row whose loss or gradient is not finite before the run stops."""
    checkpoint_every: int = 10
    """Steps between checkpoints; the last step always makes one."""
    keep_checkpoints: int = 2
    """Newest checkpoints kept."""
    keep_one_every_h: float = 0.0
    """Of older ones, one is kept for every so many hours; 0: none is."""
    num_threads: int = 0
    """CPU threads of torch on each rank; 0: all cores, shared out among the ranks of a machine."""

    def __post_init__(self) -> None:
        for key in ("episodes_per_step", "micro_batch_tokens", "max_bad_steps", "devices",
                    "num_nodes", "checkpoint_every", "keep_checkpoints"):  # fmt: skip
            self._require(key, getattr(self, key) >= 1, "a whole number from 1")
        for key in ("max_steps", "warmup_steps", "num_threads"):
            self._require(key, getattr(self, key) >= 0, "a whole number from 0")
        for key in ("weight_decay", "clip_norm", "keep_one_every_h"):
            self._require(key, 0 <= getattr(self, key) < math.inf, "a finite number from 0")
        for key in ("beta1", "beta2"):
            self._require(key, 0 <= getattr(self, key) < 1, "a number from 0, below 1")
        self._require("learning_rate", 0 < self.learning_rate < math.inf, "a number above 0")
        for key, allowed in CHOICES.items():
            self._require(key, getattr(self, key) in allowed, " or ".join(allowed))
        self._require("zero_stage", self.zero_stage in ZERO_STAGES, "0, 1, 2 or 3")
        if self.strategy == "single":
            only = "with trainer.strategy=deepspeed"
            self._require("devices", self.devices == 1, f"1, or more {only}")
            self._require("num_nodes", self.num_nodes == 1, f"1, or more {only}")
            self._require("offload_optimizer", not self.offload_optimizer, f"false, or true {only}")

    def check_dtype(self, dtype: str) -> None:
        """Checks what weights of this precision can be trained by.

        Raises:
            ValueError: Says what to change.
        """
        if self.strategy == "single" and dtype == "bfloat16" and self.max_steps:
            raise ValueError(
                "model.dtype: 'bfloat16' is not allowed with trainer.strategy=single, which would "
                "round small updates away; use float32, or trainer.strategy=deepspeed, which keeps "
                "a float32 copy"
            )

    @property
    def num_ranks(self) -> int:
        """Training ranks on all nodes."""
        return self.devices * self.num_nodes

    def _require(self, key: str, is_met: bool, allowed: str) -> None:
        if not is_met:
            value = getattr(self, key)
            raise ValueError(f"trainer.{key}: {value!r} is not allowed; use {allowed}")
