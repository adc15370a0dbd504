"""The verdict on a task of a domain: what the rollout's calls did, and what its answer says.

The calls that ran are made again in a fresh environment, so that a verdict follows from the rollout
as it was written down. Functions of a domain know no chance and no clock: the same calls leave the
same database.
"""

from __future__ import annotations

from toolorchestra.domain.goal import Goal
from toolorchestra.domain.task import Action
from toolorchestra.domain.verify import verify
from toolorchestra.reward.match_extract import without_thinking
from toolorchestra.reward.measures import is_executed
from toolorchestra.types import Rollout, Verdict

DECIDED_BY = "domain"


def judge_domain(goal: Goal, rollout: Rollout) -> Verdict:
    """Judge a rollout that has ended and is not void.

    Returns:
        Solved or not, never undecided; where not, the reason lists all that is missing or too much.
    """
    said = without_thinking(rollout.answer or "")
    verdict = verify(
        goal.domain, goal.task, actions=actions_of(goal, rollout), messages=[said] if said else []
    )
    missing = str(verdict).splitlines()[1:]
    if not said:
        missing = ["no answer was given", *missing]
    return Verdict(is_solved=not missing, decided_by=DECIDED_BY, reason="\n".join(missing))


def actions_of(goal: Goal, rollout: Rollout) -> list[Action]:
    """The calls of the domain's functions that ran, in their order."""
    actions = []
    for turn in rollout.turns:
        calls = {call.id: call for call in turn.calls}
        for result in turn.results:
            if is_executed(result) and result.name in goal.domain.functions:
                arguments = calls[result.call_id].arguments
                actions.append(Action(name=result.name, arguments=arguments))
    return actions
