"""What the rest of the project sees of a judge, and how a rollout that has ended is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from toolorchestra.domain.aside import aside
from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.goal import AnyGoal, Tau2Goal, goal_of
from toolorchestra.judge.domain import judge_domain
from toolorchestra.judge.tau2 import judge_tau2
from toolorchestra.types import LedgerEntry, Rollout, Task, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A verdict, and what it cost."""

    verdict: Verdict
    bill: LedgerEntry | None = None
    """Of kind "judge"; None where nothing was asked, or somebody else has paid."""


class Judge(Protocol):
    """Decides whether answers solve tasks."""

    async def judge(self, task: Task, answer: str | None, *, turn: int) -> Judged:
        """Judges one answer.

        Args:
            task: With the right answer.
            answer: What the policy ended with; None where it never answered.
            turn: The turn that a bill is written down for.
        """
        ...

    async def close(self) -> None:
        """Gives back what it holds."""
        ...


async def judge_rollout(
    judge: Judge, task: Task, rollout: Rollout
) -> tuple[Rollout, Verdict | None]:
    """Judges a rollout that has ended; one of a domain's task by what it did, without asking.

    Returns:
        The rollout with the judge's bill in its ledger, and its verdict: None where it is void,
        which no judge is asked about, or turns out to be, as its calls cannot be made again.
    """
    if rollout.status == "void":
        return rollout, None
    goal = goal_of(task)
    if goal is not None:
        try:
            return rollout, await aside(goal.domain, lambda: _judge_goal(goal, task, rollout))
        except DomainBug as bug:  # in the replay alone: code that nobody trusts may be so
            return replace(rollout, status="void", fault=f"domain: {bug}"), None
    last_turn = max(len(rollout.turns) - 1, 0)
    judged = await judge.judge(task, rollout.answer, turn=last_turn)
    if judged.bill is not None:
        rollout = replace(rollout, ledger=(*rollout.ledger, judged.bill))
    return rollout, judged.verdict


def _judge_goal(goal: AnyGoal, task: Task, rollout: Rollout) -> Verdict:
    if isinstance(goal, Tau2Goal):
        return judge_tau2(goal, task.question, rollout)
    return judge_domain(goal, rollout)
