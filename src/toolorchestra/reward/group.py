"""From the rollouts of an episode to its scored group.

A void rollout (our infrastructure failed) and an undecided one (the judge could not say) earn
nothing, not 0: a missing reward must neither punish the policy nor move the group's mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolorchestra.reward.combine import Terms, paper_terms
from toolorchestra.reward.gdpo import gdpo_terms
from toolorchestra.reward.measures import measure
from toolorchestra.types import Episode, Group, Measures, Preference, Rollout, Score, Verdict

RULES: dict[str, Callable[[Sequence[Measures], Preference], list[Terms]]] = {
    "paper": paper_terms,
    "gdpo": gdpo_terms,
}


def is_scorable(rollout: Rollout, verdict: Verdict | None) -> bool:
    """Whether a rollout can earn a reward: not void, and its verdict is decided."""
    return rollout.status != "void" and verdict is not None and verdict.is_solved is not None


def score_group(
    episode: Episode,
    rollouts: Sequence[Rollout],
    verdicts: Sequence[Verdict | None],
    *,
    rule: str,
    preference: Preference,
    tool_use: str = "count",
) -> Group:
    """Scores the scorable rollouts of an episode against each other.

    Args:
        episode: What was offered.
        rollouts: All attempts, void ones included.
        verdicts: One an attempt; None where there is none.
        rule: A key of `RULES`.
        preference: P, usually `weigh(episode.preference, ...)`.
        tool_use: Whether every call of a favoured tool counts, or the first: "count" or "once".

    Returns:
        The group of scorable rollouts alone, in order of `sample`. The caller counts the others:
        `len(rollouts) - len(group.rollouts)`.

    Raises:
        ValueError: An unknown rule, or a P that does not fit the offered tools.
    """
    if rule not in RULES:
        raise ValueError(f"reward rule {rule!r} is not allowed; use one of {', '.join(RULES)}")
    decided = _decided(rollouts, verdicts)
    measures = [measure(rollout, episode, verdict) for rollout, verdict in decided]
    counted = map(_once, measures) if tool_use == "once" else measures
    terms = RULES[rule](list(counted), preference)
    scores = tuple(
        Score(reward=sum(parts.values()), terms=parts, measures=measured, verdict=verdict)
        for parts, measured, (_, verdict) in zip(terms, measures, decided, strict=True)
    )
    return Group(episode=episode, rollouts=tuple(rollout for rollout, _ in decided), scores=scores)


def _once(measures: Measures) -> Measures:
    counts = {name: min(count, 1) for name, count in measures.tool_counts.items()}
    return replace(measures, tool_counts=counts)


def _decided(
    rollouts: Sequence[Rollout], verdicts: Sequence[Verdict | None]
) -> list[tuple[Rollout, Verdict]]:
    pairs = [
        (rollout, verdict)
        for rollout, verdict in zip(rollouts, verdicts, strict=True)
        if verdict is not None and is_scorable(rollout, verdict)
    ]
    return sorted(pairs, key=lambda pair: pair[0].sample)
