"""An episode and its turns as the messages of an API: calls and their results by id.

Nothing here depends on a tokenizer. A history that a provider would refuse for what the policy did
wrong is mended just as far as that takes, and tells the policy what it did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolorchestra.chat.messages import episode_messages
from toolorchestra.provider.base import FunctionCall, Message
from toolorchestra.types import Episode, ToolCall, Turn

MAX_NAME_CHARS = 64
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def messages_of(
    episode: Episode, turns: Sequence[Turn], *, system_prompt: str, sends_reasoning: bool
) -> list[Message]:
    """All messages so far.

    Args:
        episode: What is being solved.
        turns: Those so far.
        system_prompt: See `toolorchestra.chat.messages.episode_messages`.
        sends_reasoning: Whether the policy is shown its own thoughts again.
    """
    opening = episode_messages(episode, system_prompt)
    messages = [Message(role=item["role"], content=item["content"]) for item in opening]
    for turn in turns:
        messages.append(
            Message(
                role="assistant",
                content=turn.text,
                calls=tuple(map(_as_written, turn.calls)),
                reasoning=turn.thinking if sends_reasoning else "",
            )
        )
        results = {result.call_id: result.content for result in turn.results}
        messages += [
            Message(role="tool", content=results[call.id], call_id=call.id) for call in turn.calls
        ]
        if turn.user is not None:
            messages.append(Message(role="user", content=turn.user.text))
    return messages


def _as_written(call: ToolCall) -> FunctionCall:
    """A call for the history; characters that no name may have become underscores."""
    return FunctionCall(
        id=call.id,
        name=_NO_NAME.sub("_", call.name)[:MAX_NAME_CHARS] or "_",
        arguments=json.dumps(call.arguments, ensure_ascii=False),
    )
