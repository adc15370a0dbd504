"""How well policies do what users prefer: the paper's score of Eq. 5-6 (Appendix L, Table 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.measures.attempt import Attempt, scored
from toolorchestra.report.stats import bootstrap_mean
from toolorchestra.report.table import Cell, Table
from toolorchestra.reward.evaluate import relative_reward
from toolorchestra.types import Measures

NOTE = (
    "Mean over trials of R^e (Eq. 6): 0 where unsolved, else M . P, each entry of M against that "
    'of "{reference}" on the same episode, M0: M / max(1, M0) for calls and outcome, M0 / max(1, M)'
    " for cost in cents and latency in minutes of service. The floor of 1 makes scores depend on "
    "these units. The sum over trials is the paper's score of a benchmark. Episodes for which "
    '"{reference}" has no score are left out, and so are void and unscored trials.'
)


def preference_scores(
    attempts: Sequence[Attempt], reference: Sequence[Attempt]
) -> list[tuple[Attempt, float]]:
    """R^e of every scored attempt whose episode the reference has a score for.

    Args:
        attempts: Of one policy in one world.
        reference: Of the policy that M0 is of, there. Where it has several scored trials at an
            episode, R^e is the mean over them; with one, it is Eq. 6 itself.
    """
    starts: dict[str, list[Measures]] = {}
    for item, found in scored(reference):
        starts.setdefault(item.episode, []).append(found)
    return [
        (item, _mean([relative_reward(found, s, item.preference) for s in starts[item.episode]]))
        for item, found in scored(attempts)
        if item.episode in starts
    ]


def preference_table(evaluation: Evaluation, world: str) -> Table:
    """One row a policy: R^e by kind of preference, over all, and its sum."""
    attempts = [item for item in evaluation.attempts if item.world == world]
    policies = {
        policy: [item for item in attempts if item.policy == policy]
        for policy in dict.fromkeys(item.policy for item in attempts)
    }
    reference = evaluation.reference
    kinds = sorted({item.preference.kind for item in attempts})
    rows = [
        (policy, *_row(own, policies.get(reference, []), kinds)) for policy, own in policies.items()
    ]
    columns = [*kinds, "all", "sum"]
    return Table(
        title=f'{world} world: preference score by preference, against "{reference}"',
        columns=("policy", "trials", "left out", *columns),
        rows=tuple(rows),
        digits={**dict.fromkeys(columns, 3), "sum": 1},
        note=f"{NOTE.format(reference=reference)} {evaluation.note}".strip(),
    )


def _row(
    attempts: Sequence[Attempt], reference: Sequence[Attempt], kinds: Sequence[str]
) -> list[Cell]:
    pairs = preference_scores(attempts, reference)
    by_kind: Mapping[str, list[tuple[Attempt, float]]] = {
        kind: [pair for pair in pairs if pair[0].preference.kind == kind] for kind in kinds
    }
    return [
        len(pairs),
        len(attempts) - len(pairs),
        *(_estimate(by_kind[kind]) for kind in kinds),
        _estimate(pairs),
        math.fsum(score for _, score in pairs) if pairs else None,
    ]


def _estimate(pairs: Sequence[tuple[Attempt, float]]) -> Cell:
    if not pairs:
        return None
    return bootstrap_mean([score for _, score in pairs], clusters=[a.episode for a, _ in pairs])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
