"""All rollouts that a run's folder holds in full, of its training and of its evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.report.trajectories import (
    EVALUATION_FILE,
    TRAJECTORIES_FILE,
    read_trajectories,
    read_trials,
)
from toolorchestra.types import Episode, Rollout

TRAINING = "training"
"""The policy while it is trained, which is another one after every step."""
SEEN = "seen"
"""The world of training, as tables call it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedRollout:
    """One rollout with the episode that it was played in."""

    policy: str
    world: str
    step: int | None
    """Of training; None: of an evaluation."""
    episode: Episode
    rollout: Rollout
    cost_usd: float | None
    """As its reward or result counts it; None where it is void or unscored."""
    where: str
    """For messages: file and line, or episode and policy."""


def read_run(run_dir: Path) -> Iterator[LoggedRollout]:
    """Yields a run's rollouts, those of training first; a last line that was cut is left out.

    Raises:
        ValueError: The folder holds none, or a file is corrupt; names the file.
    """
    training, evaluation = run_dir / TRAJECTORIES_FILE, run_dir / EVALUATION_FILE
    if not training.exists() and not evaluation.exists():
        raise ValueError(
            f"{run_dir} holds neither {TRAJECTORIES_FILE} nor {EVALUATION_FILE}; use the folder of "
            "a run of train.py or evaluate.py"
        )
    if training.exists():
        yield from _read_training(training)
    if evaluation.exists():
        yield from _read_evaluation(evaluation)


def _read_training(path: Path) -> Iterator[LoggedRollout]:
    for logged in read_trajectories(path, skip_truncated_last_line=True):
        group = logged.group
        for rollout, score in zip(group.rollouts, group.scores, strict=True):
            yield LoggedRollout(
                policy=TRAINING,
                world=SEEN,
                step=logged.step,
                episode=group.episode,
                rollout=rollout,
                cost_usd=score.measures.cost_usd,
                where=f"{path}: step {logged.step}, {rollout.episode_id}/{rollout.sample}",
            )


def _read_evaluation(path: Path) -> Iterator[LoggedRollout]:
    for trial in read_trials(path, skip_truncated_last_line=True):
        result = trial.result
        yield LoggedRollout(
            policy=result.policy,
            world=result.world,
            step=None,
            episode=trial.episode,
            rollout=trial.rollout,
            cost_usd=result.cost_usd,
            where=f"{path}: {result.policy} in the {result.world} world, {result.episode}",
        )
