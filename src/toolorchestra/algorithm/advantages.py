"""Advantages of a group's rollouts: how much better each was than its siblings (Eq. 3).

Computed in float64, and exactly zero where the rewards differ by rounding alone: dividing rounding
by its own standard deviation would make noise the loudest signal of the batch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

# G: rollouts of one group

EQUAL = 1e-6
"""Rewards closer than this share of the largest magnitude are equal: float32 carries no more."""


def group_relative(rewards_G: Tensor) -> Tensor:
    """A = (R - mean) / std over the group, std being the population's (ddof 0).

    Args:
        rewards_G: Of one group; any size, also 1 or 0.

    Returns:
        Float64 of shape [G]; zeros for equal rewards and for a group of one.
    """
    centered_G = mean_centered(rewards_G)
    if not centered_G.any():
        return centered_G
    return centered_G / centered_G.square().mean().sqrt()


def mean_centered(rewards_G: Tensor) -> Tensor:
    """A = R - mean (Dr. GRPO, arXiv 2503.20783): easy and hard tasks weigh no more than others."""
    rewards_G = rewards_G.double()
    if _are_equal(rewards_G):
        return torch.zeros_like(rewards_G)
    return rewards_G - rewards_G.mean()


def leave_one_out(rewards_G: Tensor) -> Tensor:
    """A = R - mean of the *other* rewards (RLOO, arXiv 2402.14740), unscaled."""
    centered_G = mean_centered(rewards_G)
    num_rollouts = centered_G.numel()
    # R - (sum - R) / (G - 1) = (R - mean) G / (G - 1)
    return centered_G * (num_rollouts / (num_rollouts - 1)) if num_rollouts > 1 else centered_G


ADVANTAGES: dict[str, Callable[[Tensor], Tensor]] = {
    "group": group_relative,
    "leave_one_out": leave_one_out,
    "no_std": mean_centered,
}


def advantages(rewards_G: Tensor, *, kind: str, clip: float) -> Tensor:
    """Advantages of one group, clipped.

    Args:
        rewards_G: Rewards of all scored rollouts of the group, filtered ones included.
        kind: A key of `ADVANTAGES`.
        clip: Bound on |A|; 0 for none.

    Returns:
        Float32 of shape [G].

    Raises:
        ValueError: A reward is missing or infinite: that is never the same as 0.
    """
    if not torch.isfinite(rewards_G).all():
        raise ValueError(f"rewards must be finite; got {rewards_G.tolist()}")
    values_G = ADVANTAGES[kind](rewards_G)
    return (values_G.clamp(-clip, clip) if clip > 0 else values_G).float()


def _are_equal(rewards_G: Tensor) -> bool:
    if rewards_G.numel() < 2:
        return True
    spread = rewards_G.max() - rewards_G.min()
    return bool(spread <= EQUAL * rewards_G.abs().max())
