"""The closing tables of a run: each policy against the bars, with intervals, by skill and wish."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.report.figures import PolicyPoint
from toolorchestra.report.measures.attempt import Attempt
from toolorchestra.report.stats import (
    Estimate,
    accuracy,
    bootstrap_difference,
    bootstrap_mean,
    closed_share,
)
from toolorchestra.report.table import Cell, Table

SIMULATED_NOTE = "Models and web search are simulated experts (sim/), not the real ones."
START, TRAINED = "start", "trained"
"""The policy that a training run begins with, and what it makes of it."""
POLICY = "policy"
"""One that is evaluated as it is."""
ASIDES = ("judge", "user")
"""What an evaluation pays for beside the policy: columns of their own, where it was paid for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """All results of a run, of every policy in every world."""

    results: tuple[Result, ...]
    is_simulated: bool
    subject: str = TRAINED
    """The policy that all this is about."""
    start: str | None = START
    """What the subject was made from; None: not known here."""
    attempts: tuple[Attempt, ...] = ()
    """The trials behind the results, for what results do not hold; none: that is left out."""
    reference: str = START
    """Whose trials preference scores compare with."""
    max_turns: int = 0
    """What trials were limited to."""
    is_greedy: bool = False
    """Whether the models said what is likeliest."""

    def of(self, policy: str, world: str) -> list[Result]:
        """Results of one policy in one world, in the episodes' order."""
        return [r for r in self.results if r.policy == policy and r.world == world]

    @property
    def policies(self) -> list[str]:
        """In the order in which they were played."""
        return list(dict.fromkeys(result.policy for result in self.results))

    @property
    def worlds(self) -> list[str]:
        """In the order in which they were played, e.g. "seen", then "transfer"."""
        return list(dict.fromkeys(result.world for result in self.results))

    @property
    def note(self) -> str:
        """What a reader must know of the tools."""
        return SIMULATED_NOTE if self.is_simulated else ""


def main_table(evaluation: Evaluation, world: str) -> Table:
    """One row a policy: utility, accuracy, cents, seconds, malformed share, void or unscored."""
    asides = [aside for aside in ASIDES if any(_aside(r, aside) for r in evaluation.results)]
    rows: list[tuple[Cell, ...]] = []
    for policy in evaluation.policies:
        if results := evaluation.of(policy, world):
            scored = _scored(results)
            calls = sum(r.num_calls for r in results)
            rows.append(
                (
                    policy,
                    _mean(scored, lambda r: r.utility),
                    _accuracy(policy, scored),
                    _mean(scored, lambda r: r.cost_usd, scale=100.0),
                    _mean(scored, lambda r: r.latency_s),
                    100.0 * sum(r.num_malformed for r in results) / calls if calls else 0.0,
                    len(results) - len(scored),
                    *(aside_cents(policy, results, aside) for aside in asides),
                )
            )
    return Table(
        title=f"{world} world: {_size(evaluation, world)}",
        columns=(
            "policy",
            "utility",
            "accuracy",
            "cents",
            "seconds",
            "malformed %",
            "void or unscored",
            *(f"{aside} cents" for aside in asides),
        ),
        rows=tuple(rows),
        digits={
            "utility": 3,
            "accuracy": 3,
            "cents": 3,
            "seconds": 1,
            **{f"{aside} cents": 3 for aside in ASIDES},
        },
        note=evaluation.note,
    )


def _size(evaluation: Evaluation, world: str) -> str:
    """How much is played in a world, in words."""
    results = [r for r in evaluation.results if r.world == world]
    num_trials = 1 + max((r.trial for r in results), default=0)
    times = f", {num_trials} trials each" if num_trials > 1 else ""
    return f"{len({r.episode for r in results})} held-out episodes{times}"


def aside_cents(policy: str, results: Sequence[Result], aside: str) -> Estimate | None:
    """Cents for judging an episode, or for its user, scored or not; none for the oracle's bound."""
    if policy == ORACLE_BOUND:
        return None
    return _mean(results, lambda r: _aside(r, aside), scale=100.0)


def _aside(result: Result, aside: str) -> float:
    return {"judge": result.judge_usd, "user": result.user_usd}[aside]


def comparison_table(evaluation: Evaluation) -> Table:
    """The subject's utility minus each other's, paired by episode, and what training closed.

    Absent where no episode gave both a score, or the oracle's mean does not exceed the start's.
    """
    subject = evaluation.subject
    rows: list[tuple[Cell, ...]] = []
    for world in evaluation.worlds:
        for other in evaluation.policies:
            if other != subject:
                ours, theirs, clusters = _paired(evaluation, world, subject, other)
                difference = (
                    bootstrap_difference(ours, theirs, clusters=clusters) if clusters else None
                )
                rows.append((world, f"utility: {subject} - {other}", difference))
        if evaluation.start is not None:
            rows.append((world, "share of start-to-oracle closed", closed(evaluation, world)))
    return Table(
        title=f'The policy "{subject}" against the others (95 % intervals, paired by episode)',
        columns=("world", "measure", "value"),
        rows=tuple(rows),
        digits={"value": 3},
        note=evaluation.note,
    )


def breakdown_table(evaluation: Evaluation, world: str, key: str) -> Table:
    """Mean utility of every policy by "skill" or "preference"."""
    kinds = sorted({getattr(result, key) for result in evaluation.results if result.world == world})
    rows: list[tuple[Cell, ...]] = []
    for policy in evaluation.policies:
        if results := evaluation.of(policy, world):
            scored = _scored(results)
            parts = [[r for r in scored if getattr(r, key) == kind] for kind in kinds]
            rows.append((policy, *(_mean(part, lambda r: r.utility) for part in parts)))
    return Table(
        title=f"{world} world: utility by {key}",
        columns=("policy", *kinds),
        rows=tuple(rows),
        note=evaluation.note,
    )


def goal_tables(evaluation: Evaluation, world: str) -> list[Table]:
    """Share of domains' tasks that each policy solves, by domain and by difficulty; else none."""
    goals = [r for r in evaluation.results if r.world == world and r.difficulty is not None]
    if not goals:
        return []
    return [
        _shares_table(evaluation, f"{world} world: accuracy by {kind}", goals, key)
        for kind, key in (("domain", "skill"), ("difficulty", "difficulty"))
    ]


def _shares_table(evaluation: Evaluation, title: str, results: Sequence[Result], key: str) -> Table:
    kinds = sorted({getattr(result, key) for result in results})
    rows: list[tuple[Cell, ...]] = []
    for policy in evaluation.policies:
        own = _scored([result for result in results if result.policy == policy])
        parts = [[r for r in own if getattr(r, key) == kind] for kind in kinds]
        if own:
            rows.append((policy, *(_accuracy(policy, part) for part in parts)))
    columns = [str(kind) for kind in kinds]
    return Table(
        title=title,
        columns=("policy", *columns),
        rows=tuple(rows),
        digits=dict.fromkeys(columns, 3),
        note=evaluation.note,
    )


def calls_table(evaluation: Evaluation, world: str, shown_as: Mapping[str, str]) -> Table:
    """Calls of each tool an episode, by policy; simulated tools under their "sim/" names."""
    policies = [p for p in evaluation.policies if p != ORACLE_BOUND and evaluation.of(p, world)]
    names = sorted({name for r in evaluation.results if r.world == world for name in r.tool_counts})
    rows: list[tuple[Cell, ...]] = []
    counts = {policy: evaluation.of(policy, world) for policy in policies}
    for name in names:
        cells: list[Cell] = []
        for policy in policies:
            offered = [r.tool_counts[name] for r in counts[policy] if name in r.tool_counts]
            cells.append(sum(offered) / len(offered) if offered else None)
        rows.append((shown_as.get(name, name), *cells))
    return Table(
        title=f"{world} world: calls an episode that offers the tool",
        columns=("tool", *policies),
        rows=tuple(rows),
        note=evaluation.note,
    )


def closed(evaluation: Evaluation, world: str) -> Estimate | None:
    """Share of the distance from start to oracle that training closed.

    None where there is no such distance: the start is not known, or over a few episodes a lucky
    one beat what the oracle expects.
    """
    if evaluation.start is None:
        return None
    trained, start, clusters = _paired(evaluation, world, evaluation.subject, evaluation.start)
    bound = {r.episode: r.utility for r in evaluation.of(ORACLE_BOUND, world)}  # of any trial
    oracle = [float(bound.get(episode) or 0.0) for episode in clusters]
    if not math.fsum(oracle) > math.fsum(start):
        return None
    return closed_share(start, trained, oracle, clusters=clusters)


def points(evaluation: Evaluation, world: str) -> list[PolicyPoint]:
    """Each policy's place in the picture of accuracy over cost; the oracle's bound is no policy."""
    out = []
    for policy in evaluation.policies:
        scored = _scored(evaluation.of(policy, world))
        cost_cents = _mean(scored, lambda r: r.cost_usd, scale=100.0)
        accuracy = _accuracy(policy, scored)
        if policy != ORACLE_BOUND and cost_cents is not None and accuracy is not None:
            out.append(PolicyPoint(name=policy, cost_cents=cost_cents, accuracy=accuracy))
    return out


def _scored(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.utility is not None]


def _paired(
    evaluation: Evaluation, world: str, ours: str, theirs: str
) -> tuple[list[float], list[float], list[str]]:
    """Utilities of two policies on the episodes that both have a score for: means over trials."""
    left, right = _utilities(evaluation, world, ours), _utilities(evaluation, world, theirs)
    episodes = [episode for episode in left if episode in right]
    return [left[e] for e in episodes], [right[e] for e in episodes], episodes


def _utilities(evaluation: Evaluation, world: str, policy: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for result in evaluation.of(policy, world):
        if result.utility is not None:
            found.setdefault(result.episode, []).append(result.utility)
    return {episode: math.fsum(values) / len(values) for episode, values in found.items()}


def _mean(
    results: Sequence[Result], value: Callable[[Result], float | None], scale: float = 1.0
) -> Estimate | None:
    if not results:
        return None
    values = [scale * float(value(result) or 0.0) for result in results]
    return bootstrap_mean(values, clusters=[result.episode for result in results])


def _accuracy(policy: str, results: Sequence[Result]) -> Estimate | None:
    """Share solved; the bound's are probabilities, so that Wilson's interval does not fit them."""
    if not results or policy == ORACLE_BOUND:
        return _mean(results, lambda r: r.is_solved)
    outcomes = [result.is_solved or 0.0 for result in results]
    return accuracy(outcomes, clusters=[result.episode for result in results])
