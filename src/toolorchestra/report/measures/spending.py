"""What a trial takes: cents, minutes of service and of wall time, turns and calls."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.measures.attempt import Attempt, scored
from toolorchestra.report.stats import Estimate, bootstrap_mean
from toolorchestra.report.table import Table
from toolorchestra.reward.evaluate import CENTS_PER_USD, SECONDS_PER_MINUTE

SERVICE, WALL = "service minutes", "wall minutes"
NOTE = (
    "Means over scored trials. Service: what tools took, without queueing, as rewards and "
    "preferences count it. Wall: what the trial took here, waiting and the policy's own time "
    "included; with simulated experts it says nothing of real ones."
)


def spending_tables(evaluation: Evaluation, world: str) -> list[Table]:
    """One row a policy; no table where no trial was written down."""
    attempts = [item for item in evaluation.attempts if item.world == world]
    rows = []
    for policy in dict.fromkeys(item.policy for item in attempts):
        own = [item for item in attempts if item.policy == policy]
        rows.append((policy, *_row(own)))
    if not rows:
        return []
    columns = ("cents", SERVICE, WALL, "turns", "calls")
    return [
        Table(
            title=f"{world} world: what a trial takes",
            columns=("policy", *columns),
            rows=tuple(rows),
            digits=dict.fromkeys(columns[:3], 3),
            note=f"{NOTE} {evaluation.note}".strip(),
        )
    ]


def _row(attempts: Sequence[Attempt]) -> list[Estimate | None]:
    known = scored(attempts)
    if not known:
        return [None] * 5
    episodes = [item.episode for item, _ in known]
    series = (
        [CENTS_PER_USD * found.cost_usd for _, found in known],
        [found.latency_s / SECONDS_PER_MINUTE for _, found in known],
        [item.wall_s / SECONDS_PER_MINUTE for item, _ in known],
        [float(item.num_turns) for item, _ in known],
        [float(sum(found.tool_counts.values())) for _, found in known],
    )
    return [bootstrap_mean(values, clusters=episodes) for values in series]
