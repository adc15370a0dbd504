"""What all sides share: options, the optimizer's settings, and the gradient that they agree on.

The first update of each side warms up, and its gradient is written down just before the optimizer
takes it; the others are timed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from transformers import PreTrainedModel

from benchmarks.rollout.figures import tell
from benchmarks.update.workload import Workload, load

LEARNING_RATE, BETAS = 1e-6, (0.9, 0.99)
"""The paper's rate: so low that later updates meet the same losses as the first."""
CLIP_NORM = 1e6
"""Gradients are measured for clipping, as in a run, but left as they are, to be compared."""
CLIP_LOW, CLIP_HIGH = 0.2, 0.28
TOLERANCE = 1e-3
"""How far gradients may be apart, as a share of their length; in float32 8e-5 was seen."""

Measure = Callable[..., dict[str, float]]


def gradient_file(workload: Workload, side: str) -> Path:
    """Where a side's gradient lies."""
    return workload.folder / f"gradient-{side}.pt"


@contextmanager
def keeping_gradient(workload: Workload, model: PreTrainedModel, side: str) -> Iterator[None]:
    """Inside, the gradient that the first step of any optimizer is given is written down."""
    path = gradient_file(workload, side)
    path.unlink(missing_ok=True)

    def keep(*_: Any) -> None:
        if not path.exists():
            gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
            torch.save(torch.cat([gradient.flatten() for gradient in gradients]), path)

    handle = register_optimizer_step_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()


def check_gradients(workload: Workload, sides: Sequence[str]) -> dict[str, float]:
    """How far each side's gradient is from the first one's, as a share of its length.

    Raises:
        RuntimeError: If one is too far: then they did not do the same work.
    """
    first = torch.load(gradient_file(workload, sides[0])).double()
    apart = {}
    for side in sides[1:]:
        other = torch.load(gradient_file(workload, side)).double()
        is_alike = other.shape == first.shape and float(first.norm()) > 0
        apart[side] = float((other - first).norm() / first.norm()) if is_alike else float("inf")
    if not all(distance <= TOLERANCE for distance in apart.values()):
        raise RuntimeError(f"{workload.name}: gradients differ from that of {sides[0]}: {apart}")
    return apart


def figures_of(times_s: Sequence[float], **others: float) -> dict[str, float]:
    """Of a side's updates, the first of which warmed up."""
    return {"update_s": median(times_s[1:]), **others}


def run_side(
    what: str | None,
    measure: Measure,
    arguments: Sequence[str] | None,
    *,
    flags: Mapping[str, str] | None = None,
) -> None:
    """The command line of a side: measures a workload and prints its figures.

    Args:
        what: The script's docstring.
        measure: Takes a workload, `updates`, and what the flags say.
        arguments: Of the command; None: those of this process.
        flags: Names of options that are off or on, and their help.
    """
    parser = argparse.ArgumentParser(description=(what or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of a workload")
    parser.add_argument("--updates", type=int, default=1, help="timed ones, after one to warm up")
    parser.add_argument("--threads", type=int, default=0, help="torch's; 0: all cores")
    for name, text in (flags or {}).items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    options = vars(parser.parse_args(arguments))
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    torch.set_num_threads(options.pop("threads") or os.cpu_count() or 1)
    workload = load(options.pop("folder"))
    tell(**measure(workload, **options))
