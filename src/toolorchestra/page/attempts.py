"""Every rollout that a run logged, of its training and of its evaluation, in one form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.benchmark.evaluate import Result
from toolorchestra.report.logged import SEEN, TRAINING
from toolorchestra.report.trajectories import (
    EVALUATION_FILE,
    TRAJECTORIES_FILE,
    read_trajectories,
    read_trials,
)
from toolorchestra.types import Episode, Rollout, Score, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One rollout with its episode, and what it came to."""

    policy: str
    world: str
    step: int | None
    """Of training; None: of an evaluation."""
    episode: Episode
    rollout: Rollout
    verdict: Verdict | None
    score: Score | None
    """Of training; None: of an evaluation."""
    result: Result | None
    """Of an evaluation; None: of training."""

    @property
    def points(self) -> float | None:
        """The reward in training, the utility U in an evaluation; None: not scored."""
        if self.score is not None:
            return self.score.reward
        return self.result.utility if self.result is not None else None

    @property
    def cost_usd(self) -> float | None:
        """What the policy is answerable for; None: not scored."""
        if self.score is not None:
            return self.score.measures.cost_usd
        return self.result.cost_usd if self.result is not None else None

    @property
    def latency_s(self) -> float | None:
        """Seconds of service; None: not scored."""
        if self.score is not None:
            return self.score.measures.latency_s
        return self.result.latency_s if self.result is not None else None

    @property
    def is_solved(self) -> bool | None:
        """None: void or unscored."""
        if self.rollout.status == "void" or self.verdict is None:
            return None
        return self.verdict.is_solved


def read_attempts(run_dir: Path, tell: Callable[[str], None]) -> Iterator[Attempt]:
    """Yields what was logged, training first.

    Args:
        run_dir: The run's folder.
        tell: Hears, in sentences, of what could not be read: a last line that is not whole, or a
            corrupt line, which ends the reading of its file.
    """
    for name, read in ((TRAJECTORIES_FILE, _training), (EVALUATION_FILE, _evaluation)):
        path = run_dir / name
        if not path.exists():
            continue
        if _is_cut(path):
            told = "it is being written, or a kill cut it"
            tell(f"The last line of {name} is not whole and is left out: {told}.")
        try:
            yield from read(path)
        except ValueError as error:
            tell(f"{name} is read up to a line that is corrupt: {error}.")


def _training(path: Path) -> Iterator[Attempt]:
    for logged in read_trajectories(path, skip_truncated_last_line=True):
        for rollout, score in zip(logged.group.rollouts, logged.group.scores, strict=True):
            yield Attempt(
                policy=TRAINING,
                world=SEEN,
                step=logged.step,
                episode=logged.group.episode,
                rollout=rollout,
                verdict=score.verdict,
                score=score,
                result=None,
            )


def _evaluation(path: Path) -> Iterator[Attempt]:
    for trial in read_trials(path, skip_truncated_last_line=True):
        yield Attempt(
            policy=trial.result.policy,
            world=trial.result.world,
            step=None,
            episode=trial.episode,
            rollout=trial.rollout,
            verdict=trial.verdict,
            score=None,
            result=trial.result,
        )


def _is_cut(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return False
        file.seek(-1, 2)
        return file.read(1) != b"\n"
