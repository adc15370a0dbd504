"""The best expected utility that any use of the offered tools could earn on an episode.

Exact backward induction over what has been called and what was heard, knowing every tool's odds
but not its luck. It rests on the observation model of `toolorchestra.tool.simulated`: an abstention
is seen; right answers agree, wrong ones never do, so that two equal answers are certain. With
distinct answers, one from each of several independent calls with odds (right r, wrong w), at most
one is right, and tool i's is with probability (r_i/w_i) / (1 + sum_j r_j/w_j).

The policies compared with it call tools with their default arguments and answer with what a tool
said. The oracle pays nothing for its own tokens, so that it bounds every policy from above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from toolorchestra.types import Episode


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One tool as the oracle sees it."""

    name: str
    right: float
    abstain: float
    cost_usd: float
    latency_s: float
    weight: float
    """The preference's weight of using it at all."""
    is_repeatable: bool
    """False where a second call can only say the same again."""

    @property
    def wrong(self) -> float:
        """Probability of a wrong answer."""
        return max(0.0, 1.0 - self.right - self.abstain)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What the oracle would do first, and what it expects."""

    utility: float
    first: str | None
    """Tool to call next; None to answer now."""
    is_solved: float
    cost_usd: float
    latency_s: float


State = tuple[tuple[int, ...], tuple[int, ...], bool]
"""Answers heard and abstentions seen of each tool, and whether two answers agreed."""


class Oracle:
    """Backward induction for one episode."""

    def __init__(
        self,
        choices: Sequence[Choice],
        *,
        outcome: float,
        cost: float,
        latency: float,
        horizon: int,
    ) -> None:
        self._choices, self._horizon = tuple(choices), horizon
        self._outcome, self._cost, self._latency = outcome, cost, latency
        self._all_cost = sum(choice.cost_usd for choice in choices)
        self._all_latency = sum(choice.latency_s for choice in choices)
        self.plan = cache(self._plan)

    def start(self) -> State:
        """Nothing called yet."""
        none = (0,) * len(self._choices)
        return none, none, False

    def beliefs(self, state: State) -> tuple[float, ...]:
        """Probability that one answer of each tool is right; 0 for tools not heard.

        A tool that is never wrong settles the matter, as agreement does.
        """
        answered, _, is_certain = state
        sure = [n > 0 and c.right > 0 and c.wrong == 0 for n, c in zip(answered, self._choices, strict=True)]
        if is_certain or any(sure):
            best = sure.index(True) if any(sure) else next(i for i, n in enumerate(answered) if n)
            return tuple(float(i == best) for i in range(len(answered)))
        odds = [c.right / c.wrong if n else 0.0 for n, c in zip(answered, self._choices, strict=True)]
        total = 1.0 + sum(n * o for n, o in zip(answered, odds, strict=True))
        return tuple(o / total for o in odds)

    def _spent(self, state: State) -> tuple[float, float]:
        calls = [a + b for a, b in zip(state[0], state[1], strict=True)]
        cost = sum(n * c.cost_usd for n, c in zip(calls, self._choices, strict=True))
        latency = sum(n * c.latency_s for n, c in zip(calls, self._choices, strict=True))
        return cost, latency

    def _worth(self, state: State) -> float:
        """Utility of a right answer now."""
        cost, latency = self._spent(state)
        used = sum(
            c.weight
            for a, b, c in zip(state[0], state[1], self._choices, strict=True)
            if a + b
        )
        cost_share = cost / self._all_cost if self._all_cost else 0.0
        latency_share = latency / self._all_latency if self._all_latency else 0.0
        saved = self._cost * (1 - cost_share) + self._latency * (1 - latency_share)
        return self._outcome + saved + used

    def _plan(self, state: State) -> Plan:
        cost, latency = self._spent(state)
        belief = max(self.beliefs(state))
        best = Plan(
            utility=belief * self._worth(state),
            first=None,
            is_solved=belief,
            cost_usd=cost,
            latency_s=latency,
        )
        calls = [a + b for a, b in zip(state[0], state[1], strict=True)]
        if sum(calls) >= self._horizon or belief == 1.0 and not self._gains_by_use(calls):
            return best
        for index, choice in enumerate(self._choices):
            if calls[index] and not choice.is_repeatable:
                continue
            plan = self._expect(state, index, choice)
            if plan.utility > best.utility + 1e-12:
                best = plan
        return best

    def _gains_by_use(self, calls: Sequence[int]) -> bool:
        return any(not n and c.weight > 0 for n, c in zip(calls, self._choices, strict=True))

    def _expect(self, state: State, index: int, choice: Choice) -> Plan:
        answered, abstained, is_certain = state
        heard = _plus_one(answered, index)
        known = sum(n * p for n, p in zip(answered, self.beliefs(state), strict=True))
        agree = 0.0 if is_certain else choice.right * min(1.0, known)
        branches = [
            (choice.abstain, (answered, _plus_one(abstained, index), is_certain)),
            (agree, (heard, abstained, True)),
            (1.0 - choice.abstain - agree, (heard, abstained, is_certain)),
        ]
        plans = [(p, self.plan(after)) for p, after in branches if p > 1e-12]
        return Plan(
            utility=sum(p * plan.utility for p, plan in plans),
            first=choice.name,
            is_solved=sum(p * plan.is_solved for p, plan in plans),
            cost_usd=sum(p * plan.cost_usd for p, plan in plans),
            latency_s=sum(p * plan.latency_s for p, plan in plans),
        )


def _plus_one(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*counts[:index], counts[index] + 1, *counts[index + 1 :])


def oracle_of(
    episode: Episode,
    odds: Mapping[str, tuple[float, float]],
    *,
    simulated: frozenset[str],
    horizon: int,
) -> Oracle:
    """The oracle of an episode.

    Args:
        episode: what is offered, at what price, under which preference.
        odds: (right, abstain) of each offered tool for the task's skill.
        simulated: tools whose calls are independent draws; others repeat themselves.
        horizon: most calls considered.
    """
    choices = [
        Choice(
            name=tool.name,
            right=odds[tool.name][0],
            abstain=odds[tool.name][1],
            cost_usd=tool.call_cost_usd,
            latency_s=tool.latency_s,
            weight=episode.preference.tools.get(tool.name, 0.0),
            is_repeatable=tool.name in simulated,
        )
        for tool in episode.tools
    ]
    wanted = episode.preference
    return Oracle(
        choices,
        outcome=wanted.outcome,
        cost=wanted.cost,
        latency=wanted.latency,
        horizon=horizon,
    )
