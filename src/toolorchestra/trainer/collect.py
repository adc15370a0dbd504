"""One step's data: rewards, filters, advantages, training rows of the groups that were played."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch

from toolorchestra.algorithm.advantages import advantages
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.filters import FilterDecision, count_drops, filter_group
from toolorchestra.reward.config import RewardConfig
from toolorchestra.reward.group import score_group
from toolorchestra.reward.weights import weigh
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.pool import Batch, Pool, PoolState
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.drawn import drawn_metrics
from toolorchestra.trainer.metrics import group_metrics
from toolorchestra.types import Episode, Group, Preference

T = TypeVar("T")


class RunThere(Protocol):
    """Runs a coroutine elsewhere and waits for it."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Returns what the coroutine does."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class StepData:
    """What one step trains on, and all that is worth telling of it."""

    rows: tuple[TrainingRow, ...]
    """Of rollouts that no filter dropped, those of one group side by side."""
    groups: tuple[Group, ...]
    """All that were scored, dropped ones included."""
    metrics: dict[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredGroup:
    """A played group with its rewards, what the filters found, and the rows to train on."""

    group: Group
    decision: FilterDecision
    rows: tuple[TrainingRow, ...]
    num_void: int
    num_unscored: int
    score_s: float

    @property
    def is_kept(self) -> bool:
        """Whether anything of it is trained on."""
        return bool(self.rows)


class Scorer:
    """Turns played groups into training rows."""

    def __init__(self, *, reward: RewardConfig, algorithm: AlgorithmConfig) -> None:
        self._reward, self._algorithm = reward, algorithm

    def __call__(self, played: Played) -> ScoredGroup:
        """Scores one group, filters it, and gives each kept rollout its advantage."""
        start_s = time.perf_counter()
        group = self._score(played)
        decision = self._filter(group)
        return ScoredGroup(
            group=group,
            decision=decision,
            rows=tuple(self._rows(group, decision)),
            num_void=played.num_void,
            num_unscored=len(played.rollouts) - len(group.rollouts),
            score_s=time.perf_counter() - start_s,
        )

    def _score(self, played: Played) -> Group:
        return score_group(
            played.episode,
            played.rollouts,
            played.verdicts,
            rule=self._reward.rule,
            preference=reward_preference(played.episode, self._reward),
            tool_use=self._reward.tool_use,
        )

    def _filter(self, group: Group) -> FilterDecision:
        return filter_group(
            group,
            homogeneity_std=self._algorithm.homogeneity_std,
            drop_malformed=self._algorithm.drop_malformed,
            drop_invalid=self._algorithm.drop_invalid,
        )

    def _rows(self, group: Group, decision: FilterDecision) -> list[TrainingRow]:
        rewards_G = torch.tensor(decision.rewards, dtype=torch.float64)
        values = advantages(
            rewards_G, kind=self._algorithm.advantage, clip=self._algorithm.advantage_clip
        ).tolist()
        return [
            TrainingRow(row=row, advantage=value, name=f"{rollout.episode_id}/{rollout.sample}")
            for rollout, value, is_kept in zip(
                group.rollouts, values, decision.is_kept, strict=True
            )
            if is_kept
            for row in rollout.rows
            if any(row.loss_mask[1:])
        ]


class Collector:
    """Hands the trainer step after step, out of the pool that plays them."""

    def __init__(
        self, pool: Pool[ScoredGroup], *, run: RunThere, rest: Callable[[], Awaitable[None]]
    ) -> None:
        """Takes the pool.

        Args:
            pool: Plays the groups.
            run: Runs a coroutine on the pool's event loop.
            rest: Tells the engine that a step has its groups.
        """
        self._pool, self._run, self._rest = pool, run, rest

    def collect(self, version: int) -> StepData:
        """Waits for the groups of the next step, which trains the weights of `version`."""
        start_s = time.perf_counter()
        batch = self._run(self._take(version))
        return step_data(batch, version=version, rollout_s=time.perf_counter() - start_s)

    async def _take(self, version: int) -> Batch[ScoredGroup]:
        batch = await self._pool.take(version)
        await self._rest()
        return batch

    def state(self) -> dict[str, Any]:
        """Which episodes come next, for a checkpoint; between steps."""
        state = self._run(self._pool.state())
        return {"next_episode": state.next_episode, "pending": list(state.pending)}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on where a checkpoint left off; before the first step."""
        pending = tuple(state["pending"])
        self._run(
            self._pool.restore(PoolState(next_episode=state["next_episode"], pending=pending))
        )


def step_data(batch: Batch[ScoredGroup], *, version: int, rollout_s: float) -> StepData:
    """Puts the groups of a step together.

    Args:
        batch: From the pool.
        version: Of the weights that the step trains.
        rollout_s: How long the step waited for its groups.
    """
    groups = tuple(item.group for item in batch.groups)
    rows = tuple(row for item in batch.groups for row in item.rows)
    counts = count_drops([item.decision for item in batch.groups])
    metrics = group_metrics(groups) | {f"drops/{name}": float(n) for name, n in counts.items()}
    metrics |= drawn_metrics([group.episode for group in groups])
    metrics |= {
        "drops/num_void": float(sum(item.num_void for item in batch.groups)),
        "drops/num_unscored": float(sum(item.num_unscored for item in batch.groups)),
        "drops/num_replaced_groups": float(batch.num_replaced),
        "drops/num_stale_groups": float(batch.num_stale),
        "pool/num_groups_ahead": float(batch.num_ahead),
        "pool/staleness": mean_staleness(rows, version),
        "time/rollout_s": rollout_s,
        "time/score_s": sum(item.score_s for item in batch.groups),
    }
    return StepData(rows=rows, groups=groups, metrics=metrics)


def mean_staleness(rows: Sequence[TrainingRow], version: int) -> float:
    """Weight updates between sampling and training, averaged over the loss tokens."""
    ages = [
        version - sampled
        for item in rows
        for sampled, is_loss in zip(item.row.versions, item.row.loss_mask, strict=True)
        if is_loss
    ]
    return sum(ages) / len(ages) if ages else 0.0


def reward_preference(episode: Episode, reward: RewardConfig) -> Preference:
    """P as the reward options weigh it."""
    weights = reward.weights
    return weigh(
        episode.preference,
        outcome=weights.outcome,
        cost=weights.cost,
        latency=weights.latency,
        tools=weights.tools,
        is_fixed=reward.preference == "fixed",
    )
