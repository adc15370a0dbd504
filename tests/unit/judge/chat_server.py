"""A stand-in for a provider of judging models: a real local server of chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "stand-in-key"


@contextmanager
def chat_server(answer: Callable[[dict[str, Any]], str | int]) -> Iterator[tuple[str, list]]:
    """A server that replies what `answer` makes of each request: a text, or a status of an error.

    Yields its address and the requests that it got.
    """
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(length))
            requests.append(request)
            said = answer(request)
            status = said if isinstance(said, int) else 200
            body: dict[str, Any] = {"error": {"message": "no"}}
            if isinstance(said, str):
                message = {"role": "assistant", "content": said}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
                head = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
                body = head | {"choices": [choice], "usage": usage}
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def given_in(request: dict[str, Any]) -> str:
    """The given answer in a judge's request."""
    prompt = request["messages"][1]["content"]
    return prompt.partition("[answer ")[2].partition("]\n")[2].partition("\n[answer ")[0]
