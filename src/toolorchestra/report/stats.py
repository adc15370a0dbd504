"""Estimates with confidence intervals: Wilson for shares, seeded bootstraps for means.

Rollouts of one task resemble one another, so the bootstraps resample tasks (clusters), not
rollouts. Policies are compared on the same episodes, so differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
NUM_RESAMPLES = 5000


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A figure and the ends of its confidence interval."""

    value: float
    low: float
    high: float


def wilson(num_solved: int, num_tried: int, *, confidence: float = CONFIDENCE) -> Estimate:
    """Share of successes with Wilson's score interval, which stays inside [0, 1].

    Raises:
        ValueError: If nothing was tried, or more was solved than tried.
    """
    if num_tried <= 0 or not 0 <= num_solved <= num_tried:
        raise ValueError(f"no share can be formed of {num_solved} solved in {num_tried} tried")
    share = num_solved / num_tried
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    scale = 1 + z * z / num_tried
    middle = (share + z * z / (2 * num_tried)) / scale
    variance = share * (1 - share) / num_tried + z * z / (4 * num_tried * num_tried)
    half = z * math.sqrt(variance) / scale
    return Estimate(
        value=share,
        low=0.0 if num_solved == 0 else middle - half,
        high=1.0 if num_solved == num_tried else middle + half,
    )


def accuracy(outcomes: Sequence[float], *, clusters: Sequence[str], seed: int = 0) -> Estimate:
    """Share of solved trials: Wilson's interval where each task was tried once, else a bootstrap.

    Trials of one task resemble one another, so that Wilson's interval would be too narrow.

    Args:
        outcomes: 1 or 0 a trial.
        clusters: Task of each trial.
        seed: Of the bootstrap over tasks.

    Raises:
        ValueError: If there are no trials or the lengths differ.
    """
    _check_lengths([outcomes], clusters)
    if len(set(clusters)) == len(clusters):
        return wilson(sum(outcome == 1 for outcome in outcomes), len(outcomes))
    return bootstrap_mean(outcomes, clusters=clusters, seed=seed)


def bootstrap_mean(
    values: Sequence[float],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean of `values` with a percentile bootstrap interval over clusters.

    Args:
        values: One figure per rollout.
        clusters: Task of each value; None: each value stands alone.
        seed: Seed of the resampling; the same seed gives the same interval.
        confidence: Coverage of the interval.

    Raises:
        ValueError: If there are no values or the lengths differ.
    """
    sums, sizes = _cluster_sums([values], clusters)
    resampled_sums, resampled_sizes = _resample(sums, sizes, seed=seed)
    low, high = _interval(resampled_sums[:, 0] / resampled_sizes, confidence)
    return Estimate(value=float(sums[:, 0].sum() / sizes.sum()), low=low, high=high)


def bootstrap_ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate | None:
    """Sum of `parts` over the sum of `wholes`, with a bootstrap interval over clusters.

    Returns:
        None where the wholes sum to 0. Resamples in which they do are left out of the interval.

    Raises:
        ValueError: If there are no values or the lengths differ.
    """
    sums, sizes = _cluster_sums([parts, wholes], clusters)
    part, whole = sums.sum(axis=0)
    if whole == 0:
        return None
    resampled, _ = _resample(sums, sizes, seed=seed)
    kept = resampled[resampled[:, 1] != 0]
    low, high = _interval(kept[:, 0] / kept[:, 1], confidence)
    return Estimate(value=float(part / whole), low=low, high=high)


def bootstrap_difference(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean of `ours - theirs`, paired by position, with a bootstrap interval over clusters.

    Raises:
        ValueError: If there are no values or the lengths differ.
    """
    _check_lengths([ours, theirs], clusters)
    differences = (np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)).tolist()
    return bootstrap_mean(differences, clusters=clusters, seed=seed, confidence=confidence)


def closed_share(
    start: Sequence[float],
    trained: Sequence[float],
    oracle: Sequence[float],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Share of the distance from start to oracle that training closed.

    (mean(trained) - mean(start)) / (mean(oracle) - mean(start)) with a paired bootstrap interval
    over clusters. A resample whose oracle is no better than its start counts as an infinite
    share of the sign of its gain, which widens the interval instead of hiding the case.

    Raises:
        ValueError: If the oracle's mean does not exceed the start's, or the lengths differ.
    """
    sums, sizes = _cluster_sums([start, trained, oracle], clusters)
    total = sums.sum(axis=0)
    if total[2] <= total[0]:
        raise ValueError(
            f"the oracle's mean ({total[2] / sizes.sum():.4g}) must exceed "
            f"the start's ({total[0] / sizes.sum():.4g})"
        )
    resampled, _ = _resample(sums, sizes, seed=seed)
    gain, gap = resampled[:, 1] - resampled[:, 0], resampled[:, 2] - resampled[:, 0]
    shares = np.where(gap > 0, gain / np.where(gap > 0, gap, 1.0), np.copysign(np.inf, gain))
    low, high = _interval(shares, confidence)
    return Estimate(value=float((total[1] - total[0]) / (total[2] - total[0])), low=low, high=high)


def cohens_kappa(
    first: Sequence[bool],
    second: Sequence[bool],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate | None:
    """Agreement of two judges beyond chance, with a bootstrap interval over clusters.

    Returns:
        None where it is not defined: nothing was judged, or both find all alike. Resamples in
        which that is so are left out of the interval.

    Raises:
        ValueError: If the lengths differ.
    """
    if not first and not second:
        return None
    both = [float(one and two) for one, two in zip(first, second, strict=True)]
    sums, sizes = _cluster_sums([both, list(map(float, first)), list(map(float, second))], clusters)
    value = _kappas(sums.sum(axis=0)[None], sizes.sum()[None])[0]
    if not np.isfinite(value):
        return None
    resampled = _kappas(*_resample(sums, sizes, seed=seed))
    low, high = _interval(resampled[np.isfinite(resampled)], confidence)
    return Estimate(value=float(value), low=low, high=high)


def _kappas(sums: Floats, sizes: Floats) -> Floats:
    """Kappa of each row of sums (both, first, second); NaN where chance alone agrees always."""
    both, first, second = (sums / sizes[:, None]).T
    agreed = 1 - first - second + 2 * both
    by_chance = first * second + (1 - first) * (1 - second)
    is_defined = by_chance < 1 - 1e-12
    return np.where(
        is_defined, (agreed - by_chance) / np.where(is_defined, 1 - by_chance, 1), np.nan
    )


def _check_lengths(series: Sequence[Sequence[float]], clusters: Sequence[str] | None) -> None:
    lengths = [len(values) for values in series]
    lengths += [] if clusters is None else [len(clusters)]
    if len(set(lengths)) != 1 or lengths[0] == 0:
        raise ValueError(f"paired series must have one common length above 0; got {lengths}")


def _cluster_sums(
    series: Sequence[Sequence[float]], clusters: Sequence[str] | None
) -> tuple[Floats, Floats]:
    """Sums (clusters, series) and sizes (clusters,) of each cluster."""
    _check_lengths(series, clusters)
    table = np.asarray(series, dtype=float).T
    if clusters is None:
        return table, np.ones(len(table))
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((int(index.max()) + 1, table.shape[1]))
    np.add.at(sums, index, table)
    return sums, np.bincount(index).astype(float)


def _resample(sums: Floats, sizes: Floats, *, seed: int) -> tuple[Floats, Floats]:
    """Draw clusters with replacement: sums (resamples, series) and sizes (resamples,)."""
    counts = _draws(len(sizes), seed).astype(float)
    return counts @ sums, counts @ sizes


@lru_cache(maxsize=8)
def _draws(num_clusters: int, seed: int) -> npt.NDArray[np.int16]:
    """How often each cluster is drawn, (resamples, clusters): the tables of a run share these."""
    rng = np.random.default_rng(seed)
    shares = np.full(num_clusters, 1 / num_clusters)
    return rng.multinomial(num_clusters, shares, size=NUM_RESAMPLES).astype(np.int16)


def _interval(resampled: Floats, confidence: float) -> tuple[float, float]:
    tail = (1 - confidence) / 2
    # "nearest" never averages two resamples, which inf - inf would turn into NaN.
    low, high = np.quantile(resampled, [tail, 1 - tail], method="nearest")
    return float(low), float(high)
