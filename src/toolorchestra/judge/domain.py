"""The verdict on a task of a domain: what the rollout's calls did, and what the policy said.

The calls that ran, the policy's and the user's, are made again in a fresh environment, so that a
verdict follows from the rollout as it was written down. Functions of a domain know no chance and no
clock: the same calls leave the same database.
"""

from __future__ import annotations

from toolorchestra.chat.history import said_in
from toolorchestra.domain.goal import Goal
from toolorchestra.domain.task import Action
from toolorchestra.domain.verify import verify
from toolorchestra.reward.match_extract import without_thinking
from toolorchestra.reward.measures import is_executed
from toolorchestra.types import Rollout, Turn, Verdict

DECIDED_BY = "domain"


def judge_domain(goal: Goal, rollout: Rollout) -> Verdict:
    """Judge a rollout that has ended and is not void.

    Returns:
        Solved or not, never undecided; where not, the reason lists all that is missing or too much.
    """
    said = messages_of(rollout)
    verdict = verify(goal.domain, goal.task, actions=actions_of(goal, rollout), messages=said)
    missing = str(verdict).splitlines()[1:]
    if rollout.answer is None or not said:
        missing = ["no answer was given", *missing]
    return Verdict(is_solved=not missing, decided_by=DECIDED_BY, reason="\n".join(missing))


def messages_of(rollout: Rollout) -> list[str]:
    """All that the policy said to the user: its messages in a conversation, or its one answer."""
    spoken = [said_in(turn) for turn in rollout.turns if turn.user is not None]
    said = spoken or [without_thinking(rollout.answer or "")]
    return [text for text in said if text]


def actions_of(goal: Goal, rollout: Rollout) -> list[Action]:
    """The calls of the domain's functions that ran, of both parties in their order."""
    return [action for turn in rollout.turns for action in _actions(goal, turn)]


def _actions(goal: Goal, turn: Turn) -> list[Action]:
    calls = {call.id: call for call in turn.calls}
    actions = [
        Action(name=result.name, arguments=calls[result.call_id].arguments)
        for result in turn.results
        if is_executed(result) and result.name in goal.domain.functions
    ]
    theirs = turn.user.calls if turn.user is not None else ()
    return actions + [Action(name=c.name, arguments=c.arguments, by="user") for c in theirs]
