"""What a rollout sees of a user: how the task is brought up, and what is said to a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolorchestra.types import Episode, LedgerEntry, Turn, UserMessage


@dataclass(frozen=True, kw_only=True, slots=True)
class UserReply:
    """What became of a message to the user."""

    message: UserMessage | None
    """None: there is nobody to answer, or who was to answer failed."""
    bills: tuple[LedgerEntry, ...] = ()
    """Of kind "user": what was paid for the reply, and never by the policy."""
    fault: str = ""
    """Why there is no reply that could be played on with; the rollout is void."""

    @property
    def is_last(self) -> bool:
        """Whether the message that was replied to was the policy's answer."""
        return self.message is None or self.message.is_last


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """How a task is brought up, alike in all rollouts of a group."""

    episode: Episode
    """As it is played: its question is what the user says first."""
    bills: tuple[LedgerEntry, ...] = ()
    """Of kind "user": what was paid for it."""
    fault: str = ""
    """Why there is nothing to begin with; the group's rollouts are void."""


class User(Protocol):
    """Speaks for the user of a task. It keeps no state: all follows from the episode, its turns and
    the database that it shares with the policy."""

    async def opened(self, episode: Episode) -> Opening:
        """Brings up the task. Never raises for a provider's faults."""
        ...

    async def reply(self, episode: Episode, turns: Sequence[Turn], *, session: str) -> UserReply:
        """Answers the last of these turns, whose message calls nothing.

        Never raises for the policy's or a provider's faults.

        Args:
            episode: As it is played.
            turns: All so far.
            session: Names the rollout, and so its database.
        """
        ...
