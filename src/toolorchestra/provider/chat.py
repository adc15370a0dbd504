"""A model behind an OpenAI-compatible API: one reply, and the usage of all it took to get it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from toolorchestra.pricing.total import total_usage
from toolorchestra.pricing.usage import estimate_usage, usage_from_json
from toolorchestra.provider.base import FunctionCall, Message, Reply, Sampling
from toolorchestra.provider.classify import has_error
from toolorchestra.provider.connection import Connection
from toolorchestra.provider.dialect import DIALECTS, BrokenReply, Said
from toolorchestra.provider.exchange import Question, exchange
from toolorchestra.types import Json, Usage

_UNTOLD_TOKENS = 1024
"""Length of a reply that counts towards the limits where the request does not bound it."""


class ChatClient:
    """One model of one provider; see `toolorchestra.provider.base.ChatModel`."""

    def __init__(self, connection: Connection, model: str) -> None:
        """Sends nothing yet.

        Args:
            connection: The provider.
            model: The provider's id of the model.
        """
        self._connection, self._model = connection, model
        self._dialect = DIALECTS[connection.config.api]
        self._client = AsyncOpenAI(
            api_key=connection.key,
            base_url=connection.config.base_url or None,
            http_client=connection.http,
            max_retries=0,  # they are ours: a deadline bounds them, and their usage counts
        )

    async def complete(
        self, messages: Sequence[Message], *, sampling: Sampling, deadline_s: float
    ) -> Reply:
        """See `ChatModel.complete`.

        Raises:
            ProviderFault: There is no reply; its `usage` says what the attempts consumed.
            ProviderUnusable: So it was, many times in a row, for a reason that people must mend.
        """
        request = self._dialect.request(
            self._model,
            messages,
            sampling,
            max_tokens_field=self._connection.config.max_tokens_field,
        )
        return await self._connection.cassette.through(
            Reply,
            {"provider": self._connection.name, "request": request},
            lambda: self._ask(request, messages, sampling, deadline_s),
        )

    async def _ask(
        self, request: Json, messages: Sequence[Message], sampling: Sampling, deadline_s: float
    ) -> Reply:
        asked = "".join(map(_written, messages)) + "".join(map(json.dumps, sampling.tools))
        reply_tokens = sampling.max_tokens or _UNTOLD_TOKENS
        question = Question(
            send=lambda url: self._send(request, url),
            read=self._read,
            usage=lambda response, said: self._usage(response, said, asked),
            tokens=estimate_usage(asked, "").input_tokens + reply_tokens,
            model=self._model,
        )
        said, attempts = await exchange(self._connection, question, deadline_s=deadline_s)
        return Reply(
            text=said.text,
            reasoning=said.reasoning,
            is_cut=said.is_cut,
            usage=total_usage(item.usage for item in attempts),
            latency_s=attempts[-1].latency_s,
            attempts=attempts,
            calls=said.calls,
            is_filtered=said.is_filtered,
        )

    async def _send(self, request: Json, url: str) -> httpx2.Response:
        """One request; whatever status it is answered with is returned."""
        client = self._client.with_options(base_url=url)
        try:
            raw = await self._dialect.send(client, request, self._connection.config.extra_body)
        except openai.APIStatusError as error:
            return error.response
        except openai.APIConnectionError as error:
            raise self._connection.fault("", of=error) from None
        response: httpx2.Response = raw.http_response
        return response

    def _usage(self, response: httpx2.Response, said: Said | None, asked: str) -> Usage:
        """As reported; else of an answer an estimate, and of anything else that one was sent."""
        config = self._connection.config
        usage = usage_from_json(
            (_parsed(response) or {}).get("usage"),
            is_cached_included=config.is_cached_included,
            is_reasoning_included=config.is_reasoning_included,
        )
        if usage is None:
            usage = Usage()
            if said is not None:
                wrote = said.reasoning + said.text + _called(said.calls)
                usage = estimate_usage(asked, wrote)
        return replace(usage, num_requests=1)

    def _read(self, response: httpx2.Response) -> Said:
        body = _parsed(response)
        if response.status_code >= 400 or (body is not None and has_error(body)):
            raise self._connection.fault_of(response)
        if body is None:
            raise self._connection.fault(f"an answer that is no JSON: {response.text[:100]!r}")
        try:
            return self._dialect.read(body)
        except BrokenReply as error:
            raise self._connection.fault(f"an answer that is no reply: {error}") from None


def _written(message: Message) -> str:
    """All that a message holds, for estimates."""
    return message.content + message.reasoning + _called(message.calls)


def _called(calls: Sequence[FunctionCall]) -> str:
    return "".join(call.name + call.arguments for call in calls)


def _parsed(response: httpx2.Response) -> Json | None:
    """The body as an object; None where it is no such thing."""
    try:
        body: Any = json.loads(response.content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None
