"""What the trajectories of one policy in one world add up to: outcomes, tools, costs, faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolorchestra.page.attempts import Attempt
from toolorchestra.report.logged import TRAINING
from toolorchestra.report.stats import Estimate, wilson
from toolorchestra.reward.measures import is_executed

NOT_OFFERED = "(not offered)"
"""Stands for all names of tools that the policy made up."""
MOST_FAULTS = 8
"""Different messages that are shown of each kind."""


@dataclass(slots=True)
class Part:
    """Rollouts of one skill, say."""

    num: int = 0
    scored: int = 0
    solved: int = 0
    points: float = 0.0
    cents: float = 0.0
    seconds: float = 0.0

    def add(self, attempt: Attempt) -> None:
        """Takes one more."""
        self.num += 1
        if attempt.is_solved is not None:
            self.scored += 1
            self.solved += attempt.is_solved
            self.points += attempt.points or 0.0
            self.cents += 100 * (attempt.cost_usd or 0.0)
            self.seconds += attempt.latency_s or 0.0

    def to_json(self, *, has_interval: bool) -> dict[str, Any]:
        """Counts and means over scored rollouts; None where there is none."""
        if not self.scored:
            return {"num": self.num, "scored": 0}
        accuracy = self.solved / self.scored
        estimate = wilson(self.solved, self.scored) if has_interval else None
        return {
            "num": self.num,
            "scored": self.scored,
            "accuracy": accuracy if estimate is None else interval(estimate),
            "points": self.points / self.scored,
            "cents": self.cents / self.scored,
            "seconds": self.seconds / self.scored,
        }


@dataclass(slots=True)
class Sums:
    """One policy in one world of one run."""

    policy: str
    world: str
    whole: Part = field(default_factory=Part)
    by: dict[str, dict[str, Part]] = field(default_factory=lambda: {"skill": {}, "preference": {}})
    statuses: Counter[str] = field(default_factory=Counter)
    calls: dict[str, Counter[str]] = field(default_factory=dict)
    """By tool: how its calls ended."""
    cost_usd: dict[str, float] = field(default_factory=dict)
    """By what was paid for."""
    faults: dict[str, Counter[str]] = field(
        default_factory=lambda: {"void": Counter(), "malformed": Counter(), "unscored": Counter()}
    )

    def add(self, attempt: Attempt) -> None:
        """Takes one more trajectory."""
        rollout, episode = attempt.rollout, attempt.episode
        kinds = {"skill": episode.task.skill, "preference": episode.preference.kind}
        self.whole.add(attempt)
        for key, kind in kinds.items():
            self.by[key].setdefault(kind, Part()).add(attempt)
        self.statuses[rollout.status] += 1
        shown_as = {tool.name: tool.shown_as for tool in episode.tools}
        self._add_calls(attempt, shown_as)
        for entry in rollout.ledger:
            name = shown_as.get(entry.name, entry.name) if entry.kind == "tool" else entry.kind
            self.cost_usd[name] = self.cost_usd.get(name, 0.0) + entry.cost_usd
        if rollout.status == "void":
            self.faults["void"][rollout.fault or "no reason was logged"] += 1
        elif attempt.is_solved is None:
            reason = attempt.verdict.reason if attempt.verdict else ""
            self.faults["unscored"][reason or "no reason was logged"] += 1

    def _add_calls(self, attempt: Attempt, shown_as: Mapping[str, str]) -> None:
        for turn in attempt.rollout.turns:
            for error in turn.errors:
                self.faults["malformed"][error.message] += 1
            for result in turn.results:
                is_refused = not is_executed(result)
                ended = "refused" if is_refused else result.status
                name = shown_as.get(result.name, NOT_OFFERED)
                self.calls.setdefault(name, Counter())[ended] += 1
                if is_refused:
                    self.faults["malformed"][result.content] += 1

    def to_json(self) -> dict[str, Any]:
        """For the page. Rollouts of training get no interval: those of a group share an episode."""
        has_interval = self.policy != TRAINING
        return {
            "policy": self.policy,
            "world": self.world,
            "whole": self.whole.to_json(has_interval=has_interval),
            "by": {
                key: {kind: part.to_json(has_interval=has_interval) for kind, part in parts.items()}
                for key, parts in self.by.items()
            },
            "statuses": dict(self.statuses),
            "calls": {name: dict(ended) for name, ended in self.calls.items()},
            "cost_usd": self.cost_usd,
            "faults": {
                kind: [[text[:300], num] for text, num in found.most_common(MOST_FAULTS)]
                for kind, found in self.faults.items()
            },
        }


def interval(estimate: Estimate) -> dict[str, float]:
    """As results.json has it."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
