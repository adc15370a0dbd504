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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolorchestra.types import Episode

_ROUNDING = 1e-9
"""Odds are sums of decimal fractions: less than this is no chance at all."""


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
        rest = 1.0 - self.right - self.abstain
        return rest if rest > _ROUNDING else 0.0

    @property
    def odds(self) -> float:
        """How much likelier an answer is right than wrong; infinite if it is never wrong."""
        if self.right == 0:
            return 0.0
        return self.right / self.wrong if self.wrong else math.inf


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
        self._odds = [choice.odds for choice in choices]
        self._plans: dict[State, Plan] = {}

    def weighed(self, *, outcome: float, cost: float, latency: float) -> Oracle:
        """The oracle of the same tools for whoever weighs results so, and no tool for itself."""
        return Oracle(
            [replace(choice, weight=0.0) for choice in self._choices],
            outcome=outcome,
            cost=cost,
            latency=latency,
            horizon=self._horizon,
        )

    def start(self) -> State:
        """Nothing called yet."""
        none = (0,) * len(self._choices)
        return none, none, False

    def plan(self, state: State) -> Plan:
        """What to do in a state, and what it comes to.

        Only what the plan can meet is kept: a run holds the oracles of all its episodes.
        """
        if state not in self._plans:
            self._follow(state, {})
        return self._plans[state]

    def beliefs(self, state: State) -> tuple[float, ...]:
        """Probability that one answer of each tool is right, while none agree; 0 if not heard.

        An answer of a tool that is never wrong settles the matter.
        """
        heard = state[0]
        odds = [odd if count else 0.0 for count, odd in zip(heard, self._odds, strict=True)]
        if math.inf in odds:
            best = odds.index(math.inf)
            return tuple(float(index == best) for index in range(len(odds)))
        total = 1.0 + sum(count * odd for count, odd in zip(heard, odds, strict=True))
        return tuple(odd / total for odd in odds)

    def _follow(self, state: State, values: dict[State, tuple[float, int | None]]) -> Plan:
        """Plans along the best choices alone."""
        if state in self._plans:
            return self._plans[state]
        utility, first = self._value(state, values)
        if first is None:
            cost, latency = self._spent(_calls(state))
            is_solved = self._belief(state)[0] if utility > 0 else 0.0
            plan = Plan(
                utility=utility, first=None, is_solved=is_solved, cost_usd=cost, latency_s=latency
            )
        else:
            branches = self._branches(state, first, self._belief(state)[1])
            plans = [(chance, self._follow(after, values)) for chance, after in branches]
            plan = Plan(
                utility=utility,
                first=self._choices[first].name,
                is_solved=sum(chance * plan.is_solved for chance, plan in plans),
                cost_usd=sum(chance * plan.cost_usd for chance, plan in plans),
                latency_s=sum(chance * plan.latency_s for chance, plan in plans),
            )
        self._plans[state] = plan
        return plan

    def _value(
        self, state: State, values: dict[State, tuple[float, int | None]]
    ) -> tuple[float, int | None]:
        """The best expected utility, and the tool to call for it."""
        if state in values:
            return values[state]
        calls = _calls(state)
        belief, known = self._belief(state)
        # a right answer that is worth less than nothing is better left unsaid
        first: int | None = None
        best = max(0.0, belief * self._worth(calls))
        if sum(calls) < self._horizon:
            for index, choice in enumerate(self._choices):
                is_idle = calls[index] > 0 and not choice.is_repeatable
                if is_idle or self._ceiling(calls, index) <= best:
                    continue
                branches = self._branches(state, index, known)
                value = sum(chance * self._value(after, values)[0] for chance, after in branches)
                if value > best + 1e-12:
                    best, first = value, index
        values[state] = best, first
        return best, first

    def _belief(self, state: State) -> tuple[float, float]:
        """Probability that the best answer is right, and that any answer heard is."""
        if state[2]:
            return 1.0, 1.0
        beliefs = self.beliefs(state)
        known = sum(count * belief for count, belief in zip(state[0], beliefs, strict=True))
        return max(beliefs), min(1.0, known)

    def _ceiling(self, calls: tuple[int, ...], index: int) -> float:
        """More than any plan is worth that calls tool `index` next."""
        unused = sum(c.weight for n, c in zip(calls, self._choices, strict=True) if not n)
        newly = 0.0 if calls[index] else self._choices[index].weight
        return self._worth(_plus_one(calls, index)) + unused - newly

    def _spent(self, calls: tuple[int, ...]) -> tuple[float, float]:
        cost = sum(n * c.cost_usd for n, c in zip(calls, self._choices, strict=True))
        latency = sum(n * c.latency_s for n, c in zip(calls, self._choices, strict=True))
        return cost, latency

    def _worth(self, calls: tuple[int, ...]) -> float:
        """Utility of a right answer after so many calls of each tool."""
        cost, latency = self._spent(calls)
        used = sum(c.weight for n, c in zip(calls, self._choices, strict=True) if n)
        cost_share = cost / self._all_cost if self._all_cost else 0.0
        latency_share = latency / self._all_latency if self._all_latency else 0.0
        saved = self._cost * (1 - cost_share) + self._latency * (1 - latency_share)
        return self._outcome + saved + used

    def _branches(self, state: State, index: int, known: float) -> list[tuple[float, State]]:
        """What a call may bring: silence, an answer heard before, or another one."""
        answered, abstained, is_certain = state
        choice = self._choices[index]
        heard = _plus_one(answered, index)
        agree = 0.0 if is_certain else choice.right * known
        branches = [
            (choice.abstain, (answered, _plus_one(abstained, index), is_certain)),
            (agree, (heard, abstained, True)),
            (choice.right + choice.wrong - agree, (heard, abstained, is_certain)),
        ]
        return [(chance, after) for chance, after in branches if chance > _ROUNDING]


def _calls(state: State) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(state[0], state[1], strict=True))


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
