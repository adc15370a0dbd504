"""What a policy came to on each held-out episode, and what the oracle expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolorchestra.benchmark.world import World
from toolorchestra.domain.goal import goal_of
from toolorchestra.reward.evaluate import utility
from toolorchestra.reward.group import is_scorable
from toolorchestra.reward.measures import cost_usd, measure
from toolorchestra.rollout.group import Played
from toolorchestra.types import Episode, Measures, Rollout, Verdict

ORACLE_BOUND = "oracle bound"
"""The oracle's expectation, which no policy exceeds on average."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One policy on one episode. All numbers are None where the rollout is void or unscored."""

    policy: str
    world: str
    """As tables call it, e.g. "seen"."""
    episode: str
    skill: str
    preference: str
    utility: float | None
    is_solved: float | None
    """1 or 0; for the oracle's bound a probability."""
    cost_usd: float | None
    """What the policy is answerable for."""
    latency_s: float | None
    tool_counts: Mapping[str, int]
    num_calls: int
    num_malformed: int
    status: str
    difficulty: int | None = None
    """Of a task of a domain, from 1; None where tasks have none."""
    task: str = ""
    """The task's own id: several episodes may be drawn with one task."""
    trial: int = 0
    """For which time the policy plays the episode, from 0."""
    judge_usd: float = 0.0
    """Paid for judging it, scored or not: no cost of the policy's."""
    user_usd: float = 0.0
    """Paid for simulating its user: no cost of the policy's."""

    @property
    def measures(self) -> Measures | None:
        """What the trial came to; None where it is void or unscored."""
        if self.is_solved is None or self.cost_usd is None or self.latency_s is None:
            return None
        return Measures(
            tool_counts=self.tool_counts,
            outcome=self.is_solved,
            cost_usd=self.cost_usd,
            latency_s=self.latency_s,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One policy's rollout of one episode, and what it came to."""

    result: Result
    episode: Episode
    rollout: Rollout
    verdict: Verdict | None = None
    """Whether it solves the task, and who decided so; None where the rollout is void."""
    num_void: int = 0
    """Attempts that an infrastructure fault ended, replaced ones included."""


def trial_of(policy: str, world: str, played: Played) -> Trial:
    """A trial that has ended, with what it came to; `played` holds one rollout."""
    (rollout,), (verdict,) = played.rollouts, played.verdicts
    return Trial(
        result=result_of(policy, world, played.episode, rollout, verdict),
        episode=played.episode,
        rollout=rollout,
        verdict=verdict,
        num_void=played.num_void,
    )


def result_of(
    policy: str, world: str, episode: Episode, rollout: Rollout, verdict: Verdict | None
) -> Result:
    """What one rollout came to."""
    is_scored = is_scorable(rollout, verdict)
    measures = measure(rollout, episode, verdict) if verdict and is_scored else None
    results = [result for turn in rollout.turns for result in turn.results]
    refused = sum(bool(result.metadata.get("malformed", False)) for result in results)
    # a message that was cut is one fault, even where no piece of it can be named
    errors = sum(max(len(t.errors), int(t.finish_reason != "stop")) for t in rollout.turns)
    return Result(
        policy=policy,
        world=world,
        episode=episode.id,
        skill=episode.task.skill,
        preference=episode.preference.kind,
        utility=utility(measures, episode.preference, episode.tools) if measures else None,
        is_solved=measures.outcome if measures else None,
        cost_usd=measures.cost_usd if measures else None,
        latency_s=measures.latency_s if measures else None,
        tool_counts=measures.tool_counts if measures else {},
        num_calls=len(results) + errors,
        num_malformed=refused + errors,
        status=rollout.status,
        difficulty=_difficulty(episode),
        task=episode.task.id,
        trial=rollout.sample,
        judge_usd=cost_usd(rollout, ("judge",)),
        user_usd=cost_usd(rollout, ("user",)),
    )


def _difficulty(episode: Episode) -> int | None:
    goal = goal_of(episode.task)
    return None if goal is None else goal.task.difficulty


def oracle_bound(world: World, name: str, episodes: Sequence[Episode]) -> list[Result]:
    """What the oracle expects on each episode, before any luck is drawn."""
    results = []
    for episode in episodes:
        oracle = world.oracle(episode)
        plan = oracle.plan(oracle.start())
        results.append(
            Result(
                policy=ORACLE_BOUND,
                world=name,
                episode=episode.id,
                skill=episode.task.skill,
                preference=episode.preference.kind,
                utility=plan.utility,
                is_solved=plan.is_solved,
                cost_usd=plan.cost_usd,
                latency_s=plan.latency_s,
                tool_counts={},
                num_calls=0,
                num_malformed=0,
                status="expected",
                task=episode.task.id,
            )
        )
    return results
