"""What a step's groups say about the policy, as plain numbers for every log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from toolorchestra.reward.evaluate import utility
from toolorchestra.reward.measures import tool_counts
from toolorchestra.types import Group, Rollout, Score


def group_metrics(groups: Sequence[Group]) -> dict[str, float]:
    """Means over all scored rollouts, filtered ones included.

    Keys: reward and each of its terms, accuracy, utility, cents and seconds a rollout, turns,
    calls of each offered tool a rollout (of the rollouts that were offered it), malformed share.
    """
    scores = [score for group in groups for score in group.scores]
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    metrics = {
        "reward/mean": _mean(score.reward for score in scores),
        "accuracy": _mean(score.measures.outcome for score in scores),
        "utility": _mean(
            utility(score.measures, group.episode.preference, group.episode.tools)
            for group in groups
            for score in group.scores
        ),
        "cost_cents": 100 * _mean(score.measures.cost_usd for score in scores),
        "latency_s": _mean(score.measures.latency_s for score in scores),
        "turns": _mean(float(len(rollout.turns)) for rollout in rollouts),
        "tokens/sampled": float(sum(map(_num_sampled, rollouts))),
        "calls/malformed_share": malformed_share(rollouts),
    }
    return metrics | _term_metrics(scores) | _call_metrics(groups)


def malformed_share(rollouts: Sequence[Rollout]) -> float:
    """Malformed or impossible calls as a share of all that were tried.

    A message that was cut is one such call, even where no piece of it can be named.
    """
    bad = tried = 0
    for rollout in rollouts:
        for turn in rollout.turns:
            refused = sum(bool(r.metadata.get("malformed", False)) for r in turn.results)
            errors = max(len(turn.errors), int(turn.finish_reason == "length"))
            bad += refused + errors
            tried += len(turn.results) + errors
    return bad / tried if tried else 0.0


def _term_metrics(scores: Sequence[Score]) -> dict[str, float]:
    names = sorted({name for score in scores for name in score.terms})
    return {f"reward/{n}": _mean(score.terms.get(n, 0.0) for score in scores) for n in names}


def _call_metrics(groups: Sequence[Group]) -> dict[str, float]:
    calls: Counter[str] = Counter()
    chances: Counter[str] = Counter()
    for group in groups:
        offered = [tool.name for tool in group.episode.tools]
        for rollout in group.rollouts:
            calls.update(tool_counts(rollout, offered))
            chances.update(offered)
    return {f"calls/{name}": calls[name] / chances[name] for name in sorted(chances)}


def _num_sampled(rollout: Rollout) -> int:
    return sum(len(turn.completion_ids) for turn in rollout.turns)


def _mean(values: Iterable[float]) -> float:
    items = list(values)
    return math.fsum(items) / len(items) if items else 0.0
