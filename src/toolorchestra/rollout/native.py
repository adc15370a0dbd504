"""A chat with a model behind an API, which is sent messages in place of tokens.

All calls of a message run, but for those whose arguments cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.chat.messages import answer_of
from toolorchestra.chat.parse import ParsedMessage
from toolorchestra.rollout.execute import refused
from toolorchestra.rollout.protocol import Accepted, Prompt
from toolorchestra.types import Episode, Turn


class Native:
    """A conversation without tokens, which its engine puts into messages; see `Conversation`."""

    is_over_when_cut = True

    def prompt(self, episode: Episode, turns: Sequence[Turn], *, is_ended: bool) -> Prompt:
        """No ids."""
        return Prompt(ids=(), is_new=False)

    def accept(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> Accepted:
        """The calls that can be read; the others are told what is wrong with them."""
        faults = parsed.refused
        return Accepted(
            calls=tuple(call for call in parsed.calls if call.id not in faults),
            refused=tuple(
                refused(call, faults[call.id]) for call in parsed.calls if call.id in faults
            ),
        )

    def answer(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> str | None:
        """What a message says that calls nothing."""
        return None if parsed.calls else answer_of(parsed.content)
