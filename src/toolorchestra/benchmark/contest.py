"""Every policy over the same held-out episodes of every world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from toolorchestra.benchmark.baselines import baselines
from toolorchestra.benchmark.evaluate import Result, oracle_bound
from toolorchestra.benchmark.trials import OnPlayed, Play, Records, evaluate_policy
from toolorchestra.benchmark.world import World
from toolorchestra.engine.base import Engine
from toolorchestra.engine.scripted import ScriptedPolicy
from toolorchestra.types import Episode

FRONTIER_WEIGHTS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Weights of cost, against 1 for a right answer, at which the oracle's frontier is drawn."""
FRONTIER_EPISODES = 100

PlayWith = Callable[[Engine, Iterable[tuple[Episode, int]], OnPlayed], None]
"""Plays every episode once with an engine; see `toolorchestra.benchmark.trials.Play`."""


class Display(Protocol):
    """Shows how far an evaluation is."""

    def begin(self, policy: str, world: str) -> None:
        """Hears what is played next."""
        ...

    def took(self, result: Result) -> None:
        """Hears of a trial that has just ended."""
        ...

    def end(self) -> None:
        """Hears that this policy is done in this world."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """A world and its held-out episodes."""

    name: str
    """As tables call it, e.g. "seen"."""
    world: World
    episodes: tuple[Episode, ...]


def players_of(arena: Arena, models: Iterable[str]) -> list[str]:
    """Who plays in an arena, in order: the models, then the scripted policies."""
    return [*models, *baselines(arena.world)]


def hold_contest(
    arenas: Sequence[Arena],
    models: Mapping[str, Callable[[], Engine]],
    *,
    play: PlayWith,
    scripted: Callable[[ScriptedPolicy], Engine],
    records: Records,
    display: Display,
    num_trials: int = 1,
) -> list[Result]:
    """Plays the models and all baselines in every arena, and adds the oracle's bound if known.

    Args:
        arenas: Where to play.
        models: What readies the engine of a model policy, by the name under which results list it.
            One engine may serve several, one after the other.
        play: Plays episodes with an engine.
        scripted: Makes the engine that plays a scripted policy.
        records: Each trial is written there as it ends; what is there already is not played.
        display: Shows how far it is.
        num_trials: How often each policy plays each episode.
    """
    results: list[Result] = []
    for arena in arenas:
        players = dict(models)
        players |= {name: partial(scripted, p) for name, p in baselines(arena.world).items()}
        for policy, ready in players.items():
            display.begin(policy, arena.name)
            found = evaluate_policy(
                policy,
                arena.name,
                arena.episodes,
                partial(_readied, play, ready),
                records=records,
                num_trials=num_trials,
                told=display.took,
            )
            display.end()
            results += found
        if arena.world.is_known:
            bounds = oracle_bound(arena.world, arena.name, arena.episodes)
            results += [replace(bound, trial=n) for bound in bounds for n in range(num_trials)]
    return results


def _readied(play: PlayWith, ready: Callable[[], Engine]) -> Play:
    return partial(play, ready())


def oracle_frontier(arena: Arena) -> list[tuple[float, float]]:
    """(cents, accuracy) of the oracle as it weighs cost more and more, over the first episodes."""
    episodes = arena.episodes[:FRONTIER_EPISODES]
    points = []
    for weight in FRONTIER_WEIGHTS:
        plans = []
        for episode in episodes:
            oracle = arena.world.oracle(episode).weighed(outcome=1.0, cost=weight, latency=0.0)
            plans.append(oracle.plan(oracle.start()))
        cents = 100 * sum(plan.cost_usd for plan in plans) / len(plans)
        points.append((cents, sum(plan.is_solved for plan in plans) / len(plans)))
    return points
