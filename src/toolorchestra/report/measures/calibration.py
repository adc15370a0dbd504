"""How far stated confidence is from accuracy, in the two variants that are published for HLE.

Both are the root of the mean square of |mean confidence - accuracy| over bins of equal count,
sorted by confidence and weighted by their size; the last bin takes what is left over. The code of
CAIS leaves its last bin out, that of the highest confidence, and rounds to whole percent; its judge
reads 100 % where an answer states nothing. The two differ by a factor of about 2, so each has its
name wherever it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolorchestra.benchmark.evaluate import ORACLE_BOUND
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.measures.attempt import Attempt, scored
from toolorchestra.report.stats import accuracy, bootstrap_mean
from toolorchestra.report.table import Cell, Table

BIN_SIZE = 100
UNSTATED = 1.0
"""The confidence that the CAIS variant takes for an answer that states none."""
NOTE = (
    "Errors of the confidence that answers state, whose mean is given. All bins: the answers that "
    "state one. CAIS: every answer, one that states none as 100 %; the bin of the highest "
    "confidence is left out, the result rounded to whole percent; absent below "
    f"{2 * BIN_SIZE} answers, of which nothing would be left. Answers that state none (unstated) "
    "and trials without an answer are counted; the latter are in neither error."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """Answers of similar confidence."""

    size: int
    confidence: float
    """Their mean, from 0 to 1."""
    accuracy: float


def calibration_bins(
    confidences: Sequence[float], outcomes: Sequence[float], *, bin_size: int = BIN_SIZE
) -> list[Bin]:
    """Bins of `bin_size` answers in order of confidence, equal ones in the order given.

    Args:
        confidences: From 0 to 1.
        outcomes: 1 or 0, of the same length.
        bin_size: Answers in a bin; the last one takes up to twice as many, less one.

    Returns:
        None for no answers, one bin for fewer than twice `bin_size`.
    """
    assert len(confidences) == len(outcomes), f"{len(confidences)} and {len(outcomes)} values"
    if not confidences:
        return []
    order = np.argsort(np.asarray(confidences), kind="stable")
    sure, right = np.asarray(confidences)[order], np.asarray(outcomes, dtype=float)[order]
    starts = [bin_size * i for i in range(max(1, len(sure) // bin_size))]
    ends = [*starts[1:], len(sure)]
    return [
        Bin(
            size=end - start,
            confidence=float(sure[start:end].mean()),
            accuracy=float(right[start:end].mean()),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def rms_calibration_error(
    confidences: Sequence[float], outcomes: Sequence[float], *, bin_size: int = BIN_SIZE
) -> float | None:
    """RMS calibration error over all bins, from 0 to 1; None for no answers."""
    bins = calibration_bins(confidences, outcomes, bin_size=bin_size)
    return _root_mean_square(bins, len(confidences)) if bins else None


def cais_calibration_error(
    confidences: Sequence[float], outcomes: Sequence[float], *, bin_size: int = BIN_SIZE
) -> float | None:
    """The same without the bin of the highest confidence, rounded to whole percent, from 0 to 1.

    The weights stay shares of all answers, as in the code of CAIS. None where there is but one bin.
    """
    bins = calibration_bins(confidences, outcomes, bin_size=bin_size)
    return round(_root_mean_square(bins[:-1], len(confidences)), 2) if len(bins) > 1 else None


def _root_mean_square(bins: Sequence[Bin], num_answers: int) -> float:
    squares = (b.size / num_answers * (b.confidence - b.accuracy) ** 2 for b in bins)
    return math.sqrt(math.fsum(squares))


def calibration_tables(evaluation: Evaluation, world: str) -> list[Table]:
    """One row a policy, where confidence was asked for or stated; else no table."""
    attempts = [item for item in evaluation.attempts if item.world == world]
    if not any(a.is_asked_confidence or a.confidence is not None for a in attempts):
        return []
    rows = []
    for policy in evaluation.policies:
        own = [item for item in attempts if item.policy == policy]
        if policy != ORACLE_BOUND and own:
            rows.append((policy, *_row(own)))
    columns = ("RMS error %, all bins", "CAIS error %")
    accuracies = ("accuracy, all n", "accuracy, scored")
    counts = ("n", "scored", "no answer", "unstated")
    return [
        Table(
            title=f"{world} world: calibration of stated confidence",
            columns=("policy", *counts, *accuracies, "confidence %", *columns),
            rows=tuple(rows),
            digits={**dict.fromkeys(accuracies, 3), "confidence %": 1, columns[0]: 1,
                    columns[1]: 0},
            note=f"{NOTE} {evaluation.note}".strip(),
        )
    ]  # fmt: skip


def _row(attempts: Sequence[Attempt]) -> tuple[Cell, ...]:
    known = scored(attempts)
    answered = [(item, found.outcome) for item, found in known if item.has_answer]
    stated = [(item.confidence, right) for item, right in answered if item.confidence is not None]
    sure, right = [pair[0] for pair in stated], [pair[1] for pair in stated]
    taken = [UNSTATED if item.confidence is None else item.confidence for item, _ in answered]
    outcomes = [item.measures.outcome if item.measures else 0.0 for item in attempts]
    return (
        len(attempts),
        len(known),
        len(known) - len(answered),
        len(answered) - len(stated),
        accuracy(outcomes, clusters=[item.episode for item in attempts]),
        accuracy([m.outcome for _, m in known], clusters=[a.episode for a, _ in known])
        if known
        else None,
        bootstrap_mean([100 * value for value in sure]) if sure else None,
        _percent(rms_calibration_error(sure, right)),
        _percent(cais_calibration_error(taken, [outcome for _, outcome in answered])),
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
