"""An API's reply as a policy message: its calls come apart from the text, and are not looked for
there.

What is wrong with a call is the policy's fault, as in a message that is read from text, and is told
to it as the result of that call.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from toolorchestra.chat.parse import CLOSE_THINK, OPEN_THINK, ParsedMessage
from toolorchestra.chat.strict_json import as_arguments
from toolorchestra.provider.base import Reply
from toolorchestra.types import CallError, ToolCall

UNREADABLE = "unreadable"
"""The one argument that a call is recorded with whose own cannot be read: it holds them as they
were written. Providers refuse a history whose arguments are no JSON."""


def read_reply(reply: Reply, *, first_id: int) -> ParsedMessage:
    """Reads one reply. Never raises.

    Args:
        reply: What the model answered. Thoughts that its server left in the text are cut out of it.
        first_id: Number of the first call's id, "call_0" for 0: the rollout's calls so far. The
            provider's own ids are not kept, as some use one twice.
    """
    thinking, content = _split(reply)
    calls: list[ToolCall] = []
    refused: dict[str, str] = {}
    is_truncated = reply.is_cut or reply.is_filtered
    for asked in () if is_truncated else reply.calls:
        call_id = f"call_{first_id + len(calls)}"
        try:
            arguments = as_arguments(asked.arguments)
        except ValueError as error:
            arguments, refused[call_id] = {UNREADABLE: asked.arguments}, str(error)
        calls.append(ToolCall(id=call_id, name=asked.name, arguments=arguments))
    return ParsedMessage(
        thinking=thinking,
        content=content,
        calls=tuple(calls),
        errors=(_cut(reply),) if is_truncated and reply.calls else (),
        is_truncated=is_truncated,
        refused=refused,
    )


def _split(reply: Reply) -> tuple[str, str]:
    """Thinking and content; a template may have written the mark that opens a thought."""
    before, closing, after = reply.text.rpartition(CLOSE_THINK)
    written = before.replace(OPEN_THINK, "").strip() if closing else ""
    if not closing and reply.text.lstrip().startswith(OPEN_THINK):  # it never ended
        written, after = reply.text.replace(OPEN_THINK, "", 1).strip(), ""
    return "\n\n".join(filter(None, (reply.reasoning.strip(), written))), after.strip()


def _cut(reply: Reply) -> CallError:
    return CallError(
        message="the message was cut before it ended, so none of its calls was run",
        text=json.dumps([asdict(call) for call in reply.calls], ensure_ascii=False),
    )
