"""Every policy over the same held-out episodes of every world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from toolorchestra.benchmark.baselines import baselines
from toolorchestra.benchmark.evaluate import Keep, Result, evaluate_policy, oracle_bound
from toolorchestra.benchmark.world import World
from toolorchestra.engine.base import Engine
from toolorchestra.engine.scripted import ScriptedPolicy
from toolorchestra.rollout.group import Played
from toolorchestra.types import Episode

FRONTIER_WEIGHTS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Weights of cost, against 1 for a right answer, at which the oracle's frontier is drawn."""
FRONTIER_EPISODES = 100

Play = Callable[[Engine, Sequence[Episode]], list[Played]]
"""Plays every episode once, greedily."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """A world and its held-out episodes."""

    name: str
    """As tables call it, e.g. "seen"."""
    world: World
    episodes: tuple[Episode, ...]


def hold_contest(
    arenas: Sequence[Arena],
    models: Mapping[str, Callable[[], Engine]],
    *,
    play: Play,
    scripted: Callable[[ScriptedPolicy], Engine],
    tell: Callable[[str], None],
    keep: Keep,
) -> list[Result]:
    """Plays the models and all baselines in every arena, and adds the oracle's bound if known.

    Args:
        arenas: Where to play.
        models: What readies the engine of a model policy, by the name under which results list it.
            One engine may serve several, one after the other.
        play: Plays episodes with an engine.
        scripted: Makes the engine that plays a scripted policy.
        tell: Hears what is being played.
        keep: Writes down what was played.
    """
    results = []
    for arena in arenas:
        players = dict(models)
        players |= {name: partial(scripted, p) for name, p in baselines(arena.world).items()}
        for policy, ready in players.items():
            tell(f"evaluating {policy} in the {arena.name} world")
            once = partial(play, ready())
            results += evaluate_policy(policy, arena.name, arena.episodes, once, keep=keep)
        if arena.world.is_known:
            results += oracle_bound(arena.world, arena.name, arena.episodes)
    return results


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
