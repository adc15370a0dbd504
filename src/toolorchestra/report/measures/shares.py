"""Which tools a policy calls: the share of each in all of its calls (paper, Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping

from toolorchestra.benchmark.evaluate import ORACLE_BOUND
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.stats import Estimate, bootstrap_ratio
from toolorchestra.report.table import Cell, Table

Shares = Mapping[str, Mapping[str, Estimate]]
"""By policy, then by tool; a policy that calls nothing has none."""
NOTE = (
    "Calls that ran, of scored trials. Intervals: bootstrap over episodes. A policy that calls "
    "nothing has no shares; not every episode offers every tool."
)


def call_shares(evaluation: Evaluation, world: str) -> Shares:
    """Share of each tool in all calls that a policy made, from 0 to 1; tools in order of name."""
    shares: dict[str, dict[str, Estimate]] = {}
    for policy in evaluation.policies:
        scored = [r for r in evaluation.of(policy, world) if r.utility is not None]
        if policy == ORACLE_BOUND or not scored:
            continue
        totals = [float(sum(result.tool_counts.values())) for result in scored]
        episodes = [result.episode for result in scored]
        found = {}
        for name in sorted({name for result in scored for name in result.tool_counts}):
            counts = [float(result.tool_counts.get(name, 0)) for result in scored]
            share = bootstrap_ratio(counts, totals, clusters=episodes)
            if share is not None:
                found[name] = share
        shares[policy] = found
    return shares


def shares_table(
    evaluation: Evaluation, world: str, shares: Shares, shown_as: Mapping[str, str]
) -> Table:
    """One row a tool, one column a policy, in percent; simulated tools under "sim/" names."""
    names = sorted({name for found in shares.values() for name in found})
    rows: list[tuple[Cell, ...]] = [
        (shown_as.get(name, name), *(_percent(found.get(name)) for found in shares.values()))
        for name in names
    ]
    return Table(
        title=f"{world} world: share of all calls, %",
        columns=("tool", *shares),
        rows=tuple(rows),
        digits=dict.fromkeys(shares, 1),
        note=f"{NOTE} {evaluation.note}".strip(),
    )


def _percent(share: Estimate | None) -> Estimate | None:
    if share is None:
        return None
    return Estimate(value=100 * share.value, low=100 * share.low, high=100 * share.high)
