"""The policies that a trained one is compared with: uninformed ones, and those that know the odds,
or what a domain's task takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from toolorchestra.benchmark.config import REFERENCES
from toolorchestra.benchmark.oracle import Oracle, State
from toolorchestra.benchmark.world import World
from toolorchestra.engine.golden import Golden
from toolorchestra.engine.policies import (
    Choose,
    FirstAnswer,
    answers_in,
    call_text,
    final_text,
    nothing,
    pick_ablest,
    pick_cheapest,
    pick_random,
    results_of,
)
from toolorchestra.engine.scripted import ScriptedPolicy
from toolorchestra.types import Episode, OfferedTool, ToolResult, Turn

UNINFORMED = REFERENCES
INFORMED = ("greedy", "oracle")
NOTHING, GOLDEN = "nothing", "golden"
"""What tasks of domains are between: what nobody has to do anything for, and what was meant."""


def baselines(world: World) -> Mapping[str, ScriptedPolicy]:
    """All scripted policies, by name.

    Uninformed: a random tool, always the most able, always the cheapest, each moving on to its next
    choice where a tool abstains. Informed: the best success per dollar, and the oracle's own plan;
    with real models nobody is, and "ablest" goes by the profiles as a guess.
    With tasks of domains, the one that does nothing, and the golden actions. Without tools there is
    nothing to choose from, and none of these.
    """
    if not world.tools and not world.has_domains:
        return {}
    uninformed: dict[str, ScriptedPolicy] = {
        "random": FirstAnswer(pick_random),
        "ablest": FirstAnswer(pick_ablest(world.ability())),
        "cheapest": FirstAnswer(pick_cheapest),
    }
    if world.has_domains:
        return uninformed | {NOTHING: nothing, GOLDEN: Golden()}
    if not world.is_known:
        return uninformed
    return uninformed | {
        "greedy": FirstAnswer(_pick_per_dollar(world)),
        "oracle": OraclePolicy(world),
    }


_FREE_USD = 1e-9
"""Keeps free tools comparable with each other."""


def _pick_per_dollar(world: World) -> Choose:
    def choose(episode: Episode, left: Sequence[OfferedTool], rng: Random) -> OfferedTool:
        skill = episode.task.skill
        return max(left, key=lambda t: world.right(t.name, skill) / (t.call_cost_usd + _FREE_USD))

    return choose


class OraclePolicy:
    """Plays the oracle's plan: it meets the same luck as anybody, and pays for its own tokens."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self, episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
        """Returns the next message."""
        oracle = self._world.oracle(episode)
        results = results_of(turns)
        state = _state(episode, results)
        plan = oracle.plan(state)
        if plan.first is not None:
            return call_text(plan.first)
        if plan.is_solved == 0:  # nothing heard, or nothing that is worth saying
            return final_text("unknown")
        return final_text(_best_answer(episode, oracle, state, results))


def _state(episode: Episode, results: Sequence[ToolResult]) -> State:
    names = [tool.name for tool in episode.tools]
    answered = Counter(result.name for result in results if result.status == "ok")
    silent = Counter(result.name for result in results if result.status != "ok")
    heard = Counter(answers_in(results))
    return (
        tuple(answered[name] for name in names),
        tuple(silent[name] for name in names),
        any(count > 1 for count in heard.values()),
    )


def _best_answer(
    episode: Episode, oracle: Oracle, state: State, results: Sequence[ToolResult]
) -> str:
    answers = answers_in(results)
    answer, count = Counter(answers).most_common(1)[0]
    if count > 1:
        return answer
    names = [tool.name for tool in episode.tools]
    beliefs = dict(zip(names, oracle.beliefs(state), strict=True))
    tools = [result.name for result in results if result.status == "ok"]
    return max(zip(tools, answers, strict=True), key=lambda pair: beliefs[pair[0]])[1]
