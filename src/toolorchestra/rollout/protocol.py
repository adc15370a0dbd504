"""How a rollout is held: what the policy reads next, what its calls run, and what it says.

The loop knows no more of a conversation than this. There are two kinds: a growing chat
(`toolorchestra.rollout.chat`), and the original ToolOrchestra's, whose prompt is rebuilt in every
turn (`toolorchestra.rollout.upstream`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolorchestra.chat.parse import ParsedMessage
from toolorchestra.types import CallError, Episode, ToolCall, ToolResult, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """What the policy reads before its next message."""

    ids: tuple[int, ...]
    is_new: bool
    """Whether they are a prompt of their own, hence a new training row; else they follow what was
    sampled last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """What becomes of a message; calls that are neither run nor refused are passed over."""

    calls: tuple[ToolCall, ...]
    """To be run, under the names of the episode's tools and the ids that the policy's calls got."""
    refused: tuple[ToolResult, ...] = ()
    """What is wrong with calls that are not run: the policy's faults."""
    errors: tuple[CallError, ...] = ()
    """What is wrong with the message beside what its parser found."""


class Conversation(Protocol):
    """A way of holding rollouts. It keeps no state: all follows from the episode and its turns."""

    is_over_when_cut: bool
    """Whether a message that hits its token limit ends the rollout."""

    def prompt(self, episode: Episode, turns: Sequence[Turn], *, is_ended: bool) -> Prompt:
        """What the policy reads after these turns.

        Args:
            episode: What is being solved.
            turns: None, or those so far.
            is_ended: Whether the last message ended with the end-of-turn id.
        """
        ...

    def accept(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> Accepted:
        """Which calls of a message are run, and how; `turns` are those before it."""
        ...

    def answer(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> str | None:
        """What the last of `turns`, read as `parsed`, says to the user; None: go on.

        It is the final answer unless a user has more to say.
        """
        ...
