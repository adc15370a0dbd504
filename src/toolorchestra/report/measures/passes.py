"""pass@k and pass^k: whether at least one of k trials at a task succeeds, and whether all do.

pass@k is what a user gets who can tell a right answer (Chen et al. 2021, arXiv 2107.03374), pass^k
what one gets who relies on it (Yao et al. 2024, arXiv 2406.12045).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.stats import bootstrap_mean
from toolorchestra.report.table import Cell, Table

NOTE = (
    "k goes up to the task with the fewest scored trials. Void and unscored trials are left out, "
    "and so are tasks that have no others; both are counted. Intervals: bootstrap over tasks."
)


def pass_at_k(num_trials: int, num_solved: int, k: int) -> float:
    """Unbiased estimate of the chance that one of `k` trials at least solves a task.

    1 - C(n - c, k) / C(n, k) for c solved of n trials.

    Raises:
        ValueError: k is not from 1 to the number of trials, or more was solved than tried.
    """
    _check(num_trials, num_solved, k)
    return 1.0 - math.comb(num_trials - num_solved, k) / math.comb(num_trials, k)


def pass_hat_k(num_trials: int, num_solved: int, k: int) -> float:
    """Unbiased estimate of the chance that all of `k` trials solve a task: C(c, k) / C(n, k).

    Raises:
        ValueError: k is not from 1 to the number of trials, or more was solved than tried.
    """
    _check(num_trials, num_solved, k)
    return math.comb(num_solved, k) / math.comb(num_trials, k)


def _check(num_trials: int, num_solved: int, k: int) -> None:
    if not 1 <= k <= num_trials or not 0 <= num_solved <= num_trials:
        raise ValueError(f"no pass of k={k} with {num_solved} solved of {num_trials} trials")


def pass_tables(evaluation: Evaluation, world: str) -> list[Table]:
    """pass@k and pass^k of every policy, where there are several trials at a task; else none."""
    if not any(result.trial for result in evaluation.results if result.world == world):
        return []
    rows: list[tuple[Cell, ...]] = []
    for policy in evaluation.policies:
        if policy != ORACLE_BOUND:
            rows += ((policy, *row) for row in _rows(evaluation.of(policy, world)))
    return [
        Table(
            title=f"{world} world: pass@k and pass^k",
            columns=(
                "policy",
                "tasks",
                "tasks left out",
                "unscored trials",
                "k",
                "pass@k",
                "pass^k",
            ),
            rows=tuple(rows),
            digits={"pass@k": 3, "pass^k": 3},
            note=f"{NOTE} {evaluation.note}".strip(),
        )
    ]


def _rows(results: Sequence[Result]) -> list[tuple[Cell, ...]]:
    """Tasks, tasks left out, unscored trials, k, pass@k and pass^k, for each k."""
    outcomes: dict[str, list[float]] = {}
    for result in results:
        if result.is_solved is not None:
            outcomes.setdefault(result.episode, []).append(result.is_solved)
    counts = [(len(found), sum(one == 1 for one in found)) for found in outcomes.values()]
    num_unscored = len(results) - sum(n for n, _ in counts)
    least = min((n for n, _ in counts), default=0)
    return [
        (
            len(counts),
            len({result.episode for result in results}) - len(counts),
            num_unscored,
            k,
            bootstrap_mean([pass_at_k(n, c, k) for n, c in counts]),
            bootstrap_mean([pass_hat_k(n, c, k) for n, c in counts]),
        )
        for k in range(1, least + 1)
    ]
