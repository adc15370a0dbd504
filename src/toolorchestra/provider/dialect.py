"""OpenAI's two APIs for models: what a request holds, and what a reply says.

Both are read with our own eyes instead of the client library's: providers answer with less than the
library's types promise, and a reply that lacks what counts must not pass for one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from toolorchestra.provider.base import FunctionCall, Message, Sampling
from toolorchestra.types import Json

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class BrokenReply(ValueError):
    """A reply of status 200 that lacks what makes it a reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a reply says, before its usage is read."""

    text: str
    reasoning: str
    is_cut: bool
    calls: tuple[FunctionCall, ...] = ()
    is_filtered: bool = False


class Dialect(Protocol):
    """One API."""

    def request(
        self, model: str, messages: Sequence[Message], sampling: Sampling, *, max_tokens_field: str
    ) -> Json:
        """The fields of a request."""
        ...

    async def send(self, client: AsyncOpenAI, request: Json, extra_body: Mapping[str, Any]) -> Any:
        """Sends it once; returns the library's raw response."""
        ...

    def read(self, body: Mapping[str, Any]) -> Said:
        """What a body of status 200 without an error says.

        Raises:
            BrokenReply: It lacks something.
        """
        ...


class ChatCompletions:
    """The Chat Completions API, which nearly everybody offers."""

    def request(
        self, model: str, messages: Sequence[Message], sampling: Sampling, *, max_tokens_field: str
    ) -> Json:
        """See `Dialect.request`."""
        fields: Json = {
            "model": model,
            "messages": [_chat_message(item) for item in messages],
            max_tokens_field: sampling.max_tokens,
            "temperature": sampling.temperature,
            "reasoning_effort": sampling.reasoning_effort,
        }
        if sampling.tools:
            fields["tools"] = list(sampling.tools)
            fields["parallel_tool_calls"] = sampling.parallel_calls
        if sampling.json_schema is not None:
            schema = {"name": "reply", "schema": sampling.json_schema, "strict": True}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {key: value for key, value in fields.items() if value is not None}

    async def send(self, client: AsyncOpenAI, request: Json, extra_body: Mapping[str, Any]) -> Any:
        """See `Dialect.send`."""
        create = client.chat.completions.with_raw_response.create
        return await create(**request, extra_body=dict(extra_body) or None)

    def read(self, body: Mapping[str, Any]) -> Said:
        """See `Dialect.read`."""
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise BrokenReply("it holds no choices")
        finish = choice.get("finish_reason")
        if finish is None:
            raise BrokenReply("it does not say why it ended")
        return Said(
            text=_text(message.get("content")) or _text(message.get("refusal")),
            reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
            is_cut=finish == "length",
            calls=_calls(message.get("tool_calls")),
            is_filtered=finish == "content_filter",
        )


class Responses:
    """The Responses API, which OpenAI's newer models need for some things."""

    def request(
        self, model: str, messages: Sequence[Message], sampling: Sampling, *, max_tokens_field: str
    ) -> Json:
        """See `Dialect.request`; this API has one name for the longest reply, and no tools here."""
        del max_tokens_field
        assert not sampling.tools, "tools are offered by Chat Completions alone"
        effort = sampling.reasoning_effort
        fields: Json = {
            "model": model,
            "input": [{"role": item.role, "content": item.content} for item in messages],
            "max_output_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "reasoning": None if effort is None else {"effort": effort},
            "store": False,
        }
        if sampling.json_schema is not None:
            form = {"type": "json_schema", "name": "reply", "schema": sampling.json_schema}
            fields["text"] = {"format": {**form, "strict": True}}
        return {key: value for key, value in fields.items() if value is not None}

    async def send(self, client: AsyncOpenAI, request: Json, extra_body: Mapping[str, Any]) -> Any:
        """See `Dialect.send`."""
        create = client.responses.with_raw_response.create
        return await create(**request, extra_body=dict(extra_body) or None)

    def read(self, body: Mapping[str, Any]) -> Said:
        """See `Dialect.read`."""
        status, output = body.get("status"), body.get("output")
        if status not in ("completed", "incomplete") or not isinstance(output, list):
            raise BrokenReply(f"its status is {status!r}")
        items = [item for item in output if isinstance(item, dict)]
        said = [item for item in items if item.get("type") == "message"]
        if not said and status == "completed":
            raise BrokenReply("it holds no message")
        thoughts = [item.get("summary") for item in items if item.get("type") == "reasoning"]
        return Said(
            text="".join(_text(item.get("content")) for item in said),
            reasoning="\n".join(map(_text, thoughts)),
            is_cut=status == "incomplete",
        )


DIALECTS: Mapping[str, Dialect] = {"chat": ChatCompletions(), "responses": Responses()}


def _chat_message(item: Message) -> Json:
    """A message as Chat Completions has it; one that only calls has no content."""
    message: Json = {"role": item.role, "content": item.content}
    if item.calls:
        message["content"] = item.content or None
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in item.calls
        ]
    if item.reasoning:
        message["reasoning_content"] = item.reasoning
    if item.call_id:
        message["tool_call_id"] = item.call_id
    return message


def _calls(found: object) -> tuple[FunctionCall, ...]:
    """The calls of a message; what is wrong with their names and arguments is the model's doing.

    Raises:
        BrokenReply: One lacks its function, which is no model's doing.
    """
    calls = []
    for item in found if isinstance(found, list) else []:
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise BrokenReply("it holds a call without a function")
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)  # decoded already, by some
        calls.append(
            FunctionCall(
                id=_text(item.get("id")), name=_text(function["name"]), arguments=_text(arguments)
            )
        )
    return tuple(calls)


def _text(content: object) -> str:
    """Text that is given as itself or in parts; what is no Unicode becomes U+FFFD."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        return "".join(_text(part.get("text") or part.get("refusal")) for part in parts)
    if not isinstance(content, str):
        return ""
    return content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
