"""A stand-in for a provider: a real HTTP server that speaks Chat Completions and misbehaves.

Every answer counts what it was asked for, so that a ledger can be held against the server's own
counters.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

INPUT_TOKENS, OUTPUT_TOKENS = 50, 10
"""What every answered request is said to have used."""
KEY = "sk-a-key-that-must-not-leak"

Plan = Callable[[int], str]
"""Behaviour of the n-th request (0, 1, ...), a key of `BEHAVIOURS` or "ok"."""


class StandIn:
    """What the server was asked, and what it answered."""

    def __init__(self, plan: Plan) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.behaved: Counter[str] = Counter()
        self.input_tokens = self.output_tokens = self.num_open = self.most_open = 0
        self._plan = plan

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One request, by plan."""
        body = await request.json()
        number = len(self.requests)  # after reading, during which others may come
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.num_open += 1
        self.most_open = max(self.most_open, self.num_open)
        behaviour = self._plan(number)
        self.behaved[behaviour] += 1
        try:
            return await BEHAVIOURS[behaviour](self, request)
        finally:
            self.num_open -= 1

    def reply(self, request: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """A good reply, which repeats the last message, with some fields changed."""
        self.input_tokens += INPUT_TOKENS
        self.output_tokens += OUTPUT_TOKENS
        said = request["messages"][-1]["content"]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": f"echo: {said}"},
                }
            ],
            "usage": {
                "prompt_tokens": INPUT_TOKENS,
                "completion_tokens": OUTPUT_TOKENS,
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            },
        } | changes


Behaviour = Callable[[StandIn, web.Request], Any]
BEHAVIOURS: dict[str, Behaviour] = {}


def behaviour(function: Behaviour) -> Behaviour:
    """Makes a function a behaviour under its name."""
    BEHAVIOURS[function.__name__] = function
    return function


def _error(status: int, code: str, message: str, **headers: str) -> web.Response:
    body = {"error": {"code": code, "message": message, "type": code}}
    names = {key.replace("_", "-"): value for key, value in headers.items()}
    return web.json_response(body, status=status, headers=names)


@behaviour
async def ok(server: StandIn, request: web.Request) -> web.Response:
    """A good answer."""
    return web.json_response(server.reply(await request.json()))


@behaviour
async def wrong_key(server: StandIn, request: web.Request) -> web.Response:
    """401, and the key said aloud, as some providers do."""
    return _error(401, "invalid_api_key", f"Incorrect API key provided: {KEY}")


@behaviour
async def no_quota(server: StandIn, request: web.Request) -> web.Response:
    """402."""
    return _error(402, "payment_required", "you have no credit left")


@behaviour
async def no_quota_429(server: StandIn, request: web.Request) -> web.Response:
    """429 for a reason that waiting does not mend."""
    return _error(429, "insufficient_quota", "You exceeded your current quota")


@behaviour
async def no_model(server: StandIn, request: web.Request) -> web.Response:
    """404."""
    return _error(404, "model_not_found", "the model does not exist")


@behaviour
async def too_long(server: StandIn, request: web.Request) -> web.Response:
    """400 for an input that is too long."""
    return _error(400, "context_length_exceeded", "maximum context length is 10 tokens")


@behaviour
async def bad_request(server: StandIn, request: web.Request) -> web.Response:
    """400 for a field that it does not know."""
    return _error(400, "unsupported_parameter", "temperature is not supported")


@behaviour
async def busy(server: StandIn, request: web.Request) -> web.Response:
    """429 with a wait that is over at once."""
    return _error(429, "rate_limit_exceeded", "slow down", Retry_After="0.01")


@behaviour
async def busy_for_long(server: StandIn, request: web.Request) -> web.Response:
    """429 with a wait beyond any deadline."""
    return _error(429, "rate_limit_exceeded", "come back tomorrow", Retry_After="86400")


@behaviour
async def crash(server: StandIn, request: web.Request) -> web.Response:
    """500 with a page of HTML."""
    return web.Response(status=500, text="<html>oops</html>", content_type="text/html")


@behaviour
async def overloaded(server: StandIn, request: web.Request) -> web.Response:
    """529, which Anthropic made up."""
    return _error(529, "overloaded_error", "overloaded")


@behaviour
async def error_in_200(server: StandIn, request: web.Request) -> web.Response:
    """200 with an error inside, which says that the input was counted."""
    server.input_tokens += INPUT_TOKENS
    usage = {"prompt_tokens": INPUT_TOKENS, "completion_tokens": 0}
    return web.json_response({"error": {"code": 429, "message": "busy"}, "usage": usage})


@behaviour
async def no_json(server: StandIn, request: web.Request) -> web.Response:
    """200 that is no JSON."""
    return web.Response(text="upstream connect error", content_type="application/json")


@behaviour
async def cut_json(server: StandIn, request: web.Request) -> web.StreamResponse:
    """A body that ends before its announced length."""
    body = json.dumps(server.reply(await request.json())).encode()
    server.input_tokens -= INPUT_TOKENS  # nobody can read that they were used
    server.output_tokens -= OUTPUT_TOKENS
    response = web.StreamResponse(headers={"Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


@behaviour
async def no_choices(server: StandIn, request: web.Request) -> web.Response:
    """200 without an answer."""
    return web.json_response(server.reply(await request.json(), choices=None))


@behaviour
async def no_finish(server: StandIn, request: web.Request) -> web.Response:
    """An answer that does not say why it ended: it was cut on the way."""
    reply = server.reply(await request.json())
    reply["choices"][0]["finish_reason"] = None
    return web.json_response(reply)


@behaviour
async def no_usage(server: StandIn, request: web.Request) -> web.Response:
    """A good answer that says nothing of its tokens."""
    return web.json_response(server.reply(await request.json(), usage=None))


@behaviour
async def hang(server: StandIn, request: web.Request) -> web.Response:
    """No answer at all."""
    await asyncio.sleep(3600)
    raise AssertionError


@behaviour
async def drop(server: StandIn, request: web.Request) -> web.Response:
    """The connection is closed in place of an answer."""
    assert request.transport is not None
    request.transport.close()
    raise asyncio.CancelledError


@behaviour
async def endless(server: StandIn, request: web.Request) -> web.StreamResponse:
    """A body that never ends."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 65536)
        await asyncio.sleep(0)


@asynccontextmanager
async def stand_in(plan: Plan, *, port: int = 0) -> AsyncIterator[StandIn]:
    """A running server; `url` is what a client calls its base. Port 0 is any that is free."""
    server = StandIn(plan)
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", server.answer)
    http = TestServer(app, port=port or None)
    await http.start_server(shutdown_timeout=0.1)
    server.url = f"http://{http.host}:{http.port}/v1"
    try:
        yield server
    finally:
        await http.close()
