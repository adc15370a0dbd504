"""The user that plays its task's steps: offline, free, and always alike.

How far it has got follows from what the policy has said so far, so that no state has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolorchestra.chat.history import said_in
from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.task import RESULT, UserStep
from toolorchestra.tool.domain import Environments
from toolorchestra.types import Episode, ToolCall, Turn, UserMessage
from toolorchestra.user.act import act, call_id, fault_in, first_call_number
from toolorchestra.user.nobody import SILENCE
from toolorchestra.user.opening import opened
from toolorchestra.user.protocol import Opening, UserReply

MISSED = "I am sorry, I do not understand. {said}"
LEAVES = "I am sorry, we do not understand each other. Goodbye."


class ScriptedUser:
    """Plays steps; see `User`."""

    def __init__(self, environments: Environments, *, patience: int) -> None:
        """Has said nothing yet.

        Args:
            environments: The databases of the rollouts under way.
            patience: Messages in a row that do not go on with the task; at the last it leaves.
        """
        self._environments, self._patience = environments, patience

    async def opened(self, episode: Episode) -> Opening:
        """The episode with the first step's words as its question."""
        return Opening(episode=opened(episode))

    async def reply(self, episode: Episode, turns: Sequence[Turn], *, session: str) -> UserReply:
        """Takes the next step where the last message calls for it; see `User`."""
        goal = goal_of(episode.task)
        if goal is None:
            return SILENCE
        steps = goal.task.steps
        progress = _progress(episode, turns[:-1], steps)
        if progress.num_taken >= len(steps):
            return UserReply(message=UserMessage(text="", is_last=True))
        step = steps[progress.num_taken]
        if calls_for(step, said_in(turns[-1])):
            return await self._step(episode, turns, step, session)
        if progress.num_missed + 1 >= self._patience:
            return UserReply(message=UserMessage(text=LEAVES, is_last=True))
        return UserReply(message=UserMessage(text=MISSED.format(said=progress.waiting)))

    async def _step(
        self, episode: Episode, turns: Sequence[Turn], step: UserStep, session: str
    ) -> UserReply:
        first = first_call_number(turns)
        calls = tuple(
            ToolCall(id=call_id(number), name=action.name, arguments=dict(action.arguments))
            for number, action in enumerate(step.actions, start=first)
        )
        results = await act(calls, self._environments, session=session, task=episode.task)
        said = step.say.replace(RESULT, results[-1].content) if results else step.say
        message = UserMessage(text=said, calls=calls, results=tuple(results))
        return UserReply(message=message, fault=fault_in(results))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Progress:
    num_taken: int
    """Steps that were taken; the first is what the conversation began with."""
    num_missed: int
    """Messages since that did not call for the next one."""
    waiting: str
    """What the user said last, and waits for an answer to."""


def _progress(episode: Episode, turns: Sequence[Turn], steps: Sequence[UserStep]) -> _Progress:
    num_taken, num_missed, waiting = 1, 0, episode.task.question
    for turn in turns:
        if turn.user is None:
            continue
        if calls_for(steps[num_taken], said_in(turn)):
            num_taken, num_missed, waiting = num_taken + 1, 0, turn.user.text
        else:
            num_missed += 1
    return _Progress(num_taken=num_taken, num_missed=num_missed, waiting=waiting)


def calls_for(step: UserStep, said: str) -> bool:
    """Whether a message holds one of the step's cues as whole words; any will do without cues."""
    text = _plain(said)
    cues = map(_plain, step.cues)
    return not step.cues or any(re.search(rf"(?<!\w){re.escape(c)}(?!\w)", text) for c in cues)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
