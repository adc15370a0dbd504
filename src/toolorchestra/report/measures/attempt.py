"""What the measures need of a trial, without its text: small enough to hold a whole evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.benchmark.evaluate import Trial
from toolorchestra.benchmark.trials import as_asked
from toolorchestra.codec import fingerprint, to_json
from toolorchestra.report.measures.confidence import stated_confidence
from toolorchestra.report.trajectories import EVALUATION_FILE, read_trials
from toolorchestra.reward.measures import RUN_KINDS
from toolorchestra.types import Episode, Measures, Preference, Rollout, Task


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeDigest:
    """Tells whether two policies met the same episode; their own prices may differ."""

    task: str
    tools: str
    """With their prices."""
    preference: str
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One policy's trial at one episode."""

    policy: str
    world: str
    episode: str
    trial: int
    task: str
    """Its id: attempts at one task are no independent ones."""
    digest: EpisodeDigest
    preference: Preference
    status: str
    measures: Measures | None
    """None where it is void or unscored."""
    utility: float | None
    wall_s: float
    """How long it really took, queueing included."""
    turn_usd: tuple[float, ...]
    """What the policy caused in each turn."""
    has_answer: bool
    confidence: float | None
    """From 0 to 1, as its answer states it; None where it states none."""
    is_asked_confidence: bool
    """Whether the policy was told to state one."""
    is_simulated: bool
    """Whether a simulator answered for any tool on offer: every table must then say so."""

    @property
    def num_turns(self) -> int:
        """Messages of the policy."""
        return len(self.turn_usd)


def attempt_of(trial: Trial) -> Attempt:
    """What there is to measure of a trial."""
    result, episode, rollout = trial.result, trial.episode, trial.rollout
    return Attempt(
        policy=result.policy,
        world=result.world,
        episode=result.episode,
        trial=result.trial,
        task=episode.task.id,
        digest=digest_of(episode),
        preference=episode.preference,
        status=rollout.status,
        measures=result.measures,
        utility=result.utility,
        wall_s=rollout.wall_s,
        turn_usd=_turn_usd(rollout),
        has_answer=rollout.answer is not None,
        confidence=stated_confidence(rollout.answer or ""),
        is_asked_confidence=_asks_confidence(episode.task),
        is_simulated=any(tool.shown_as.startswith("sim/") for tool in episode.tools),
    )


def read_attempts(run_dir: Path) -> Iterator[Attempt]:
    """Yields all attempts of an evaluation, in order; a last line that was cut is left out.

    Raises:
        ValueError: The folder holds no evaluation, or its file is corrupt; names the file.
    """
    path = run_dir / EVALUATION_FILE
    if not path.exists():
        raise ValueError(
            f"{run_dir} holds no {EVALUATION_FILE}; use the folder of a run that was evaluated"
        )
    return map(attempt_of, read_trials(path, skip_truncated_last_line=True))


def scored(attempts: Sequence[Attempt]) -> list[tuple[Attempt, Measures]]:
    """Those that have measures, with these."""
    return [(item, item.measures) for item in attempts if item.measures is not None]


def digest_of(episode: Episode) -> EpisodeDigest:
    """Equal for equal episodes, whoever plays them."""
    return EpisodeDigest(
        task=fingerprint(to_json(as_asked(episode).task)),
        tools=fingerprint(to_json(episode.tools)),
        preference=fingerprint(to_json(episode.preference)),
        seed=episode.seed,
    )


def _turn_usd(rollout: Rollout) -> tuple[float, ...]:
    usd = [0.0] * len(rollout.turns)
    for entry in rollout.ledger:
        if entry.kind in RUN_KINDS and entry.turn < len(usd):
            usd[entry.turn] += entry.cost_usd
    return tuple(usd)


def _asks_confidence(task: Task) -> bool:
    return "confidence" in str(task.metadata.get("answer_form", "")).lower()
