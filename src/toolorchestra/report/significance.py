"""Tests of paired differences: exact McNemar, sign-flip permutation, and Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from toolorchestra.report.stats import Floats

NUM_FLIPS = 10_000
MAX_EXACT = 13
"""Clusters up to which all sign flips are tried: 2 ** 13 are fewer than `NUM_FLIPS`."""
_CHUNK = 500
_TOLERANCE = 1e-9
"""Relative; flips that give the same difference but for rounding count as equal."""


def mcnemar_exact(num_first_alone: int, num_second_alone: int) -> float:
    """Two-sided exact McNemar test of two shares on the same tasks.

    Args:
        num_first_alone: Tasks that only the first solves.
        num_second_alone: Tasks that only the second solves.

    Returns:
        The p-value: of as uneven a split of the discordant tasks, or a more uneven one, if each
        were a fair coin. 1 where there is none.
    """
    total = num_first_alone + num_second_alone
    fewer = min(num_first_alone, num_second_alone)
    tail = sum(math.comb(total, i) for i in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << total))


def sign_flip_test(
    differences: Sequence[float], *, clusters: Sequence[str] | None = None, seed: int = 0
) -> float:
    """Two-sided paired permutation test that a mean difference is 0.

    If the two were exchangeable, each task's difference might as well have the other sign. All
    flips are tried for up to 13 tasks; beyond, 10,000 drawn ones, with (1 + hits) / (1 + drawn).

    Args:
        differences: Ours minus theirs.
        clusters: Task of each; those of one task are flipped together. None: each stands alone.
        seed: Of the drawn flips.

    Returns:
        The p-value: the share of flips whose sum is as far from 0 as the observed one.

    Raises:
        ValueError: If there are none, or the lengths differ.
    """
    sums = _sums(differences, clusters)
    observed = abs(float(sums.sum()))
    least = observed - _TOLERANCE * float(np.abs(sums).sum())
    if len(sums) <= MAX_EXACT:
        numbers = np.arange(2 ** len(sums))
        signs = 1 - 2 * ((numbers[:, None] >> np.arange(len(sums))) & 1)
        return float(np.mean(np.abs(signs @ sums) >= least))
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(NUM_FLIPS // _CHUNK):
        signs = 1 - 2 * rng.integers(0, 2, size=(_CHUNK, len(sums)), dtype=np.int8)
        hits += int(np.sum(np.abs(signs @ sums) >= least))
    return (1 + hits) / (1 + NUM_FLIPS)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction: p-values that may be read side by side (Holm 1979).

    Sorted upwards, the i-th of m is multiplied by m - i + 1, and none is below one before it; at
    most 1.
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def _sums(differences: Sequence[float], clusters: Sequence[str] | None) -> Floats:
    names = clusters if clusters is not None else [str(i) for i in range(len(differences))]
    if not differences or len(names) != len(differences):
        raise ValueError(f"no test of {len(differences)} differences in {len(names)} clusters")
    sums: dict[str, float] = {}
    for name, difference in zip(names, differences, strict=True):
        sums[name] = sums.get(name, 0.0) + difference
    return np.asarray(list(sums.values()), dtype=float)
