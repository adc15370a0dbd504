"""One step's data: episodes, rollouts, rewards, filters, advantages, training rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from toolorchestra.algorithm.advantages import advantages
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.filters import FilterDecision, count_drops, filter_group
from toolorchestra.reward.config import RewardConfig
from toolorchestra.reward.group import score_group
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.reward.weights import weigh
from toolorchestra.rollout.group import Played
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.metrics import group_metrics
from toolorchestra.types import Episode, Group, Preference

PlayEpisodes = Callable[[Sequence[Episode]], list[Played]]


@dataclass(frozen=True, kw_only=True, slots=True)
class StepData:
    """What one step trains on, and all that is worth telling of it."""

    rows: tuple[TrainingRow, ...]
    """Of rollouts that no filter dropped, those of one group side by side."""
    groups: tuple[Group, ...]
    metrics: dict[str, float]


class Collector:
    """Collects step after step; a step's episodes depend on its number alone."""

    def __init__(
        self,
        *,
        sample_episode: Callable[[int], Episode],
        play: PlayEpisodes,
        reward: RewardConfig,
        algorithm: AlgorithmConfig,
        episodes_per_step: int,
    ) -> None:
        self._sample_episode, self._play = sample_episode, play
        self._reward, self._algorithm = reward, algorithm
        self._episodes_per_step = episodes_per_step

    def collect(self, step: int) -> StepData:
        """Plays and scores the groups of one step."""
        start_s = time.perf_counter()
        first = step * self._episodes_per_step
        episodes = [self._sample_episode(first + i) for i in range(self._episodes_per_step)]
        played = self._play(episodes)
        played_s = time.perf_counter()
        groups = tuple(self._score(item) for item in played)
        decisions = [self._filter(group) for group in groups]
        rows = tuple(
            row
            for group, decision in zip(groups, decisions, strict=True)
            for row in self._rows(group, decision)
        )
        num_rollouts = sum(len(item.rollouts) for item in played)
        num_scored = sum(len(group.rollouts) for group in groups)
        metrics = group_metrics(groups) | {
            f"drops/{name}": float(count) for name, count in count_drops(decisions).items()
        }
        metrics["drops/num_void"] = float(sum(item.num_void for item in played))
        metrics["drops/num_unscored"] = float(num_rollouts - num_scored)
        metrics["time/rollout_s"] = played_s - start_s
        metrics["time/score_s"] = time.perf_counter() - played_s
        return StepData(rows=rows, groups=groups, metrics=metrics)

    def _score(self, played: Played) -> Group:
        verdicts = [judge_answer(played.episode.task, item.answer) for item in played.rollouts]
        return score_group(
            played.episode,
            played.rollouts,
            verdicts,
            rule=self._reward.rule,
            preference=reward_preference(played.episode, self._reward),
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
