"""A real HTTP server that speaks Chat Completions with tools, and says what a test has it say."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Json = dict[str, Any]

USAGE: Json = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 8},
}
"""What every reply is said to have used, unless it says otherwise."""


def call(name: str, arguments: Any = "{}", call_id: str = "x") -> Json:
    """A native call; arguments are text, as the API has them."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def says(
    content: str | None = None,
    *calls: Json,
    finish: str | None = None,
    usage: Json | None = USAGE,
    **more: Any,
) -> Json:
    """The body of a reply; `more` are fields of its message."""
    message: Json = {"role": "assistant", "content": content, **more}
    if calls:
        message["tool_calls"] = list(calls)
    reason = finish or ("tool_calls" if calls else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def fails(status: int, code: str, message: str = "no") -> web.Response:
    """An error of the provider."""
    body = {"error": {"code": code, "message": message, "type": code}}
    return web.Response(status=status, text=json.dumps(body), content_type="application/json")


def cut_off() -> web.Response:
    """A body that is no JSON, as of a gateway that lost its server."""
    return web.Response(text='{"choices": [{"mess')


Reply = Json | web.Response
Plan = Callable[[int, Json], Reply]
"""What the n-th request (0, 1, ...) with this body is answered."""


def plan_of(*replies: Callable[[], Reply] | Json) -> Plan:
    """One reply after the other; the last again and again."""

    def plan(number: int, body: Json) -> Reply:
        reply = replies[min(number, len(replies) - 1)]
        return reply() if callable(reply) else reply

    return plan


class ChatApi:
    """What the server was asked."""

    def __init__(self, plan: Plan) -> None:
        self.url = ""
        self.requests: list[Json] = []
        self._plan = plan

    async def answer(self, request: web.Request) -> web.Response:
        """One request, by plan."""
        body = await request.json()
        number = len(self.requests)
        self.requests.append(body)
        reply = self._plan(number, body)
        return reply if isinstance(reply, web.Response) else web.json_response(reply)


@asynccontextmanager
async def chat_api(plan: Plan) -> AsyncIterator[ChatApi]:
    """A running server."""
    server = ChatApi(plan)
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", server.answer)
    http = TestServer(app)
    await http.start_server(shutdown_timeout=0.1)
    server.url = f"http://{http.host}:{http.port}/v1"
    try:
        yield server
    finally:
        await http.close()
