"""The optimizer of the `trainer` options: AdamW, one way or another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.nn import Parameter

from toolorchestra.trainer.config import TrainerConfig


def make_optimizer(weights: Iterable[Parameter], config: TrainerConfig) -> torch.optim.Optimizer:
    """AdamW over the weights that are trained."""
    options: dict[str, Any] = {
        "lr": config.learning_rate,
        "betas": (config.beta1, config.beta2),
        "weight_decay": config.weight_decay,
    }
    trained = [weight for weight in weights if weight.requires_grad]
    if config.optimizer == "adamw_8bit":
        from bitsandbytes.optim import AdamW8bit

        optimizer: torch.optim.Optimizer = AdamW8bit(trained, **options)
        return optimizer
    return torch.optim.AdamW(trained, fused=config.optimizer == "adamw_fused", **options)
