"""A stand-in for a vLLM server: its routes, and a policy so small that no model library is needed.

The policy draws every token from the softmax of one row of weights, whatever came before, so that a
folder of weights decides what it answers. Tests use it in their own event loop, or as a process:

    python tests/unit/engine/vllm/stand_in.py --host 127.0.0.1 --port 8000 --model FOLDER

A process reads from its environment STAND_IN_ERROR (written out, and it ends), STAND_IN_DELAY_S
(before it answers), STAND_IN_FAULTS (JSON, route to fault), STAND_IN_IGNORES_TERM and
STAND_IN_CHILD (it has a child).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import signal
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

GENERATE = "/inference/v1/generate"
ROW = "row"
"""Name of the only tensor."""


Spoil = Callable[[dict[str, Any]], Any]
"""Changes an answer that holds sampled ids."""
BODIES = {"no JSON": b"<html>", "no text": b"\xff\xfe{", "nothing": b"", "null": b"null"}


def read_row(folder: str | Path) -> list[float]:
    """The row of weights of a folder, from its model.safetensors."""
    content = (Path(folder) / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    start, end = json.loads(content[8 : 8 + size])[ROW]["data_offsets"]
    data = content[8 + size + start : 8 + size + end]
    return list(struct.unpack(f"<{len(data) // 4}f", data))


class StandInVllm:
    """One server. `faults` makes routes misbehave, `hold` makes them wait."""

    def __init__(self, model: str | Path, *, max_model_len: int = 4096) -> None:
        self.max_model_len = max_model_len
        self.version = "default"
        self.release_name = "0.32.0"
        self.calls: list[str] = []
        """Method and path of each request, in order."""
        self.bodies: list[Any] = []
        """What came with them."""
        self.faults: dict[str, str | Spoil] = {}
        """Route to a status, "hang", "cut", "cut short", "kept", a key of BODIES, or a spoil."""
        self.num_in_flight = 0
        self.asleep: set[str] = set()
        self.url = ""
        self._holds: dict[str, asyncio.Event] = {}
        self._going = asyncio.Event()
        self._going.set()
        self._counts: Counter[str] = Counter()
        self._open: list[asyncio.Transport] = []
        self._runner: web.AppRunner | None = None
        self._take(model)

    @property
    def is_paused(self) -> bool:
        return not self._going.is_set()

    def hold(self, route: str) -> None:
        """Answers on a route wait from now on; messages after their first token."""
        self._holds[route] = asyncio.Event()

    def release(self, route: str) -> None:
        self._holds.pop(route).set()

    async def start(self, port: int = 0, host: str = "127.0.0.1") -> None:
        app = web.Application(middlewares=[self._meddle])
        app.add_routes(
            [
                web.get("/health", self._done),
                web.get("/version", self._show_version),
                web.get("/v1/models", self._show_models),
                web.get("/metrics", self._show_metrics),
                web.post(GENERATE, self._generate),
                web.post("/pause", self._pause),
                web.post("/resume", self._resume),
                web.post("/sleep", self._sleep),
                web.post("/wake_up", self._wake),
                web.post("/collective_rpc", self._reload),
                web.post("/reset_prefix_cache", self._reset),
                web.post("/update_weight_version", self._mark),
                web.get("/stand_in/calls", self._show_calls),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port, backlog=1024).start()
        self.url = f"http://{host}:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Goes as a killed process does: whoever waits for an answer is cut off."""
        for transport in self._open:
            transport.abort()
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    @web.middleware
    async def _meddle(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if not request.path.startswith("/stand_in"):
            self.calls.append(f"{request.method} {request.path_qs}")
            self.bodies.append(await request.json() if request.can_read_body else None)
        fault = str(self.faults.get(request.path, ""))
        transport = request.transport
        assert transport is not None
        self._open.append(transport)
        self.num_in_flight += 1
        try:
            if fault == "hang":
                await asyncio.Event().wait()
            if fault.isdigit():
                return web.Response(status=int(fault), text=f"told to answer {fault}")
            if fault in BODIES:
                return web.Response(body=BODIES[fault])
            if fault.startswith("cut"):
                if fault == "cut short":
                    transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
                    await asyncio.sleep(0)
                transport.close()
                return web.Response()
            if request.path != GENERATE:
                await self._held(request)
            return await handler(request)
        finally:
            self._open.remove(transport)
            self.num_in_flight -= 1

    async def _held(self, request: web.Request) -> None:
        if (hold := self._holds.get(request.path)) is not None:
            await hold.wait()

    async def _generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        options = body["sampling_params"]
        if len(body["token_ids"]) + options["max_tokens"] > self.max_model_len:
            return web.json_response({"error": "too long"}, status=400)
        if "prompt_logprobs" in options:
            await self._held(request)
        ids: list[int] = []
        content: list[dict[str, Any]] = []
        spans: list[dict[str, Any]] = []
        while len(ids) < options["max_tokens"] and ids[-1:] != options.get("stop_token_ids"):
            if ids:
                await self._held(request)
            await self._going.wait()
            token = (options.get("seed", 0) + len(ids)) % len(self._logprobs)
            if not spans or spans[-1]["version"] != self.version:
                spans.append({"version": self.version, "start": len(ids)})
            ids.append(token)
            content.append({"token_id": token, "logprob": self._logprobs[token], "rank": 1})
            spans[-1]["end"] = len(ids)
        is_stopped = ids[-1:] == options.get("stop_token_ids")
        choice = {
            "index": 0,
            "token_ids": ids,
            "logprobs": {"content": content},
            "finish_reason": "stop" if is_stopped else "length",
            "weight_versions": spans,
        }
        answer: dict[str, Any] = {"request_id": "x", "choices": [choice], "prompt_logprobs": None}
        if "prompt_logprobs" in options:
            answer["prompt_logprobs"] = [
                None,
                *(
                    {str(i): {"logprob": self._logprobs[i], "rank": 1}}
                    for i in body["token_ids"][1:]
                ),
            ]
        self._counts["prompt_tokens"] += len(body["token_ids"])
        self._counts["generation_tokens"] += len(ids)
        if callable(spoil := self.faults.get(GENERATE)):
            spoil(answer)
        return web.json_response(answer)

    async def _done(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _show_version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": self.release_name})

    async def _show_models(self, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "policy", "max_model_len": self.max_model_len}]})

    async def _show_metrics(self, request: web.Request) -> web.Response:
        lines = ["# HELP vllm:prompt_tokens_total Number of tokens.", ""]
        for name, count in self._counts.items():
            for engine, value in enumerate((float(count), 0.5)):
                lines.append(f'vllm:{name}_total{{engine="{engine}",model_name="a b"}} {value}')
        return web.Response(text="\n".join(lines))

    async def _show_calls(self, request: web.Request) -> web.Response:
        return web.json_response({"pid": os.getpid(), "model": self.model, "calls": self.calls})

    async def _pause(self, request: web.Request) -> web.Response:
        assert request.query["mode"] == "keep", "other modes break messages off"
        self._going.clear()
        return web.json_response({"status": "paused"})

    async def _resume(self, request: web.Request) -> web.Response:
        self._going.set()
        return web.json_response({"status": "resumed"})

    async def _sleep(self, request: web.Request) -> web.Response:
        assert request.query["level"] == "2"
        self.asleep = {"weights", "kv_cache"}
        return web.json_response({"status": "sleeping"})

    async def _wake(self, request: web.Request) -> web.Response:
        self.asleep.remove(request.query["tags"])
        return web.json_response({"status": "awake"})

    async def _reload(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert body["method"] == "reload_weights"
        assert "weights" not in self.asleep, "there is no memory for them"
        if self.faults.get(request.path) != "kept":
            self._take(body["kwargs"]["weights_path"])
        return web.json_response({"results": [None]})

    async def _reset(self, request: web.Request) -> web.Response:
        return web.json_response({"success": self.faults.get(request.path) != "kept"})

    async def _mark(self, request: web.Request) -> web.Response:
        self.version = (await request.json())["new_version"]
        return web.json_response({"success": True, "new_version": self.version})

    def _take(self, folder: str | Path) -> None:
        row = read_row(folder)
        total = math.log(sum(map(math.exp, row)))
        self.model, self._logprobs = str(folder), [value - total for value in row]


async def _serve(host: str, port: int, model: str, max_model_len: int) -> None:
    server = StandInVllm(model, max_model_len=max_model_len)
    server.faults = json.loads(os.environ.get("STAND_IN_FAULTS", "{}"))
    await asyncio.sleep(float(os.environ.get("STAND_IN_DELAY_S", "0")))
    await server.start(port, host)
    print(f"Starting stand-in on {server.url}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Runs it as a process."""
    if "STAND_IN_ERROR" in os.environ:
        sys.exit(os.environ["STAND_IN_ERROR"])
    if "STAND_IN_IGNORES_TERM" in os.environ:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "STAND_IN_CHILD" in os.environ:
        subprocess.Popen(["sleep", "600"])  # ignores what its parent does
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--model")
    parser.add_argument("--max-model-len", type=int, default=4096)
    known, _ = parser.parse_known_args()
    asyncio.run(_serve(known.host, known.port, known.model, known.max_model_len))


if __name__ == "__main__":
    main()
