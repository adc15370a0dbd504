"""How a gradient is accumulated and applied: by plain PyTorch, or by DeepSpeed.

Whatever it is, one step is one clipped update of all weights, or none where the gradient is not
finite, and then on no rank.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from lightning import LightningModule
from torch import Tensor


class Stepper(Protocol):
    """Applies one step's gradient."""

    def backward(self, loss: Tensor, is_last: bool) -> None:
        """Adds the gradient of a micro-batch."""
        ...

    def step(self, *, is_finite: bool) -> tuple[float, bool]:
        """Updates the weights and forgets the gradient.

        Args:
            is_finite: Whether nothing says that the gradient is not finite.

        Returns:
            The gradient's norm before it was clipped, and whether the weights were updated.
        """
        ...


def make_stepper(module: LightningModule, *, clip_norm: float) -> Stepper:
    """The stepper for the strategy under which a module trains."""
    engine = getattr(module.trainer.strategy, "deepspeed_engine", None)
    if engine is None:
        return PlainStepper(module, clip_norm=clip_norm)
    return DeepSpeedStepper(module, engine)


class PlainStepper:
    """One process."""

    def __init__(self, module: LightningModule, *, clip_norm: float) -> None:
        self._module, self._clip_norm = module, clip_norm

    def backward(self, loss: Tensor, is_last: bool) -> None:
        """Adds the gradient of a micro-batch."""
        self._module.manual_backward(loss)

    def step(self, *, is_finite: bool) -> tuple[float, bool]:
        """See `Stepper`."""
        optimizer: Any = self._module.optimizers()
        limit = self._clip_norm or math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(self._module.parameters(), limit))
        is_applied = is_finite and math.isfinite(norm)
        if is_applied:
            optimizer.step()
        optimizer.zero_grad()
        return norm, is_applied


class DeepSpeedStepper:
    """All ranks at once. DeepSpeed averages their gradients, clips and updates by itself."""

    def __init__(self, module: LightningModule, engine: Any) -> None:
        self._module, self._engine = module, engine

    def backward(self, loss: Tensor, is_last: bool) -> None:
        """Adds the gradient of a micro-batch.

        DeepSpeed must be told which is the last: it counts none itself, as their number varies.
        """
        self._engine.set_gradient_accumulation_boundary(is_last)
        self._module.manual_backward(loss)

    def step(self, *, is_finite: bool) -> tuple[float, bool]:
        """See `Stepper`."""
        if not self._engine.zero_optimization() and not self._engine.bfloat16_enabled():
            return self._step_without_wrapper(is_finite=is_finite)
        optimizer: Any = self._module.optimizers()
        # A gradient that is not finite DeepSpeed finds itself, on all ranks alike, and drops. The
        # engine is then called directly: Lightning would count an update.
        (optimizer if is_finite else self._engine).step()
        return float(self._engine.get_global_grad_norm()), bool(self._engine.was_step_applied())

    def _step_without_wrapper(self, *, is_finite: bool) -> tuple[float, bool]:
        """ZeRO 0 in float32 has a plain optimizer, which looks at no gradient."""
        gradients = [p.grad for p in self._module.parameters() if p.grad is not None]
        norm = float(torch.nn.utils.get_total_norm(gradients))
        is_applied = is_finite and math.isfinite(norm)
        if is_applied:
            optimizer: Any = self._module.optimizers()
            optimizer.step()
        self._engine.zero_grad()
        return norm, is_applied
