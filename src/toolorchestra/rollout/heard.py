"""What the policy said, read from its ids or from an API's reply."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.chat.parse import ParsedMessage, parse_message
from toolorchestra.chat.reply import read_reply
from toolorchestra.engine.base import Completion
from toolorchestra.rollout.speaker import Speaker


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """One message of the policy."""

    text: str
    """Of ids all that they say, of a reply what it says beside thinking and calls."""
    parsed: ParsedMessage
    is_ended: bool
    """Whether it ended with the end-of-turn id, where there are ids."""


def hear(completion: Completion, speaker: Speaker, *, first_id: int) -> Heard:
    """Reads a message. Never raises.

    Args:
        completion: The message as the engine gave it.
        speaker: Turns ids into text.
        first_id: Number of the first call's id: the rollout's calls so far.
    """
    if completion.reply is not None:
        said = read_reply(completion.reply, first_id=first_id)
        return Heard(text=said.content, parsed=said, is_ended=True)
    is_ended = completion.ids[-1] == speaker.renderer.end_of_turn_id
    text = speaker.text(completion.ids[:-1] if is_ended else completion.ids)
    parsed = parse_message(
        text,
        finish_reason=completion.finish_reason,
        first_id=first_id,
        is_thinking_open=speaker.renderer.opens_thinking,
    )
    return Heard(text=text, parsed=parsed, is_ended=is_ended)
