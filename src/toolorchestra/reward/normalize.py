"""Normalisation of one entry of M over the rollouts of a group (paper, section 3.2).

Counts, dollars and seconds have nothing in common; within a group each is brought to one scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

RELATIVE_NOISE = 1e-9
"""Values closer than this share of the largest magnitude are equal: the rest is rounding."""


def is_constant(values: Sequence[float]) -> bool:
    """Whether all values are equal up to rounding; true for none or one."""
    if len(values) < 2:
        return True
    low, high = min(values), max(values)
    return high - low <= RELATIVE_NOISE * max(abs(low), abs(high))


def min_max(values: Sequence[float]) -> list[float]:
    """(M - min) / (max - min): the least becomes 0, the greatest 1.

    Returns:
        One number in [0, 1] a value; all 0 where max = min, as the paper says.
    """
    if is_constant(values):
        return [0.0] * len(values)
    low, high = min(values), max(values)
    return [(value - low) / (high - low) for value in values]


def standardize(values: Sequence[float]) -> list[float]:
    """(x - mean) / std with the population standard deviation; all 0 where the values are equal."""
    if is_constant(values):
        return [0.0] * len(values)
    mean = math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / std for value in values]
