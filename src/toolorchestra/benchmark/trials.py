"""How a task is played more than once: each trial has luck of its own, and a record of its own.

A simulated expert's luck is a function of the episode's seed, which the rollouts of a training
group share on purpose. Trials are to be independent: every one after the first has a seed of its
own, from which both the luck and the policy's sampling follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from toolorchestra.benchmark.evaluate import Result, Trial, trial_of
from toolorchestra.domain.goal import ANSWER_KIND
from toolorchestra.judge.llm import JUDGE_PREFIX
from toolorchestra.rollout.group import Played
from toolorchestra.types import Episode

OnPlayed = Callable[[Played], None]
Play = Callable[[Iterable[tuple[Episode, int]], OnPlayed], None]
"""Plays every episode once, as the sample of the number beside it, and hands each over as soon as
it has been judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialKey:
    """Names one trial: who played what, where, and for which time."""

    policy: str
    world: str
    episode: str
    trial: int


def key_of(result: Result) -> TrialKey:
    """The trial that a result is of."""
    return TrialKey(
        policy=result.policy, world=result.world, episode=result.episode, trial=result.trial
    )


def for_trial(episode: Episode, trial: int) -> Episode:
    """The episode as its trial number `trial`, from 0, plays it; the first keeps its seed."""
    if trial == 0:
        return episode
    digest = hashlib.blake2b(f"{episode.seed}/trial/{trial}".encode(), digest_size=8).digest()
    return replace(episode, seed=int.from_bytes(digest, "big") >> 1)  # 63 bits, as others have


def as_asked(episode: Episode) -> Episode:
    """The episode without what its user said first: whoever plays the user may say it otherwise."""
    if episode.task.answer_kind != ANSWER_KIND:
        return episode
    return replace(episode, task=replace(episode.task, question=""))


def is_settled(trial: Trial) -> bool:
    """Whether a trial stays as it is.

    One that is void, or that a judging model failed to judge, is to be played again; one that
    cannot be decided because of its own answer or task would only come to the same.
    """
    if trial.rollout.status == "void" or trial.verdict is None:
        return False
    verdict = trial.verdict
    return verdict.is_solved is not None or not verdict.decided_by.startswith(JUDGE_PREFIX)


class Records(Protocol):
    """Where trials are written down as they end."""

    def find(self, key: TrialKey, episode: Episode) -> Result | None:
        """The result of a trial that stays as it is; None: it is to be played.

        Raises:
            ValueError: It was played in another episode than this one.
        """
        ...

    def write(self, trial: Trial) -> None:
        """Writes down a trial that has ended, in place of one that was to be played again."""
        ...


def evaluate_policy(
    policy: str,
    world: str,
    episodes: Sequence[Episode],
    play: Callable[[], Play],
    *,
    records: Records,
    num_trials: int = 1,
    told: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Plays what is not settled yet: the first trial of every episode, then the second, and so on.

    Args:
        policy: As results list it.
        world: As tables call it.
        episodes: What to play.
        play: Readies whoever plays; not asked where nothing is left to play.
        records: Each trial is written there as it ends, and only its result is kept here.
        num_trials: How often each episode is played.
        told: Hears each result as its trial ends.

    Returns:
        All results in the order of the episodes, those of an episode by trial.

    Raises:
        ValueError: A recorded trial was played in another episode than this one.
    """
    results: dict[TrialKey, Result] = {}
    keys = [
        [TrialKey(policy=policy, world=world, episode=e.id, trial=n) for n in range(num_trials)]
        for e in episodes
    ]
    left: list[tuple[int, int]] = []
    for trial in range(num_trials):
        for index, episode in enumerate(episodes):
            key = keys[index][trial]
            if (known := records.find(key, for_trial(episode, trial))) is None:
                left.append((index, trial))
            else:
                results[key] = known

    def drawn() -> Iterator[tuple[Episode, int]]:
        for index, trial in left:
            yield for_trial(episodes[index], trial), trial

    def keep(played: Played) -> None:
        trial = trial_of(policy, world, played)
        records.write(trial)
        results[key_of(trial.result)] = trial.result
        told(trial.result)

    if left:
        play()(drawn(), keep)
    return [results[key] for of_episode in keys for key in of_episode]
