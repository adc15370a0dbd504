"""One vLLM server over HTTP: token ids in and out, weights, health, counters.

The routes are vLLM's own: /inference/v1/generate samples from ids and returns ids, and those of its
development mode (VLLM_SERVER_DEV_MODE=1) pause it, replace its weights and resume it.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from toolorchestra.engine.base import Completion, EngineFault, Request

SEED_BITS = (1 << 63) - 1
"""vLLM's seeds are signed."""

NO_LOGPROB = -9999.0
"""What vLLM sends for a log-probability that it does not have."""
KEEPALIVE_S = 3.0
ROUNDING = 1e-3
"""A certain token's log-probability may come out this far above 0."""


class WorkerDown(Exception):
    """A server does not answer, or answers that it is broken: what it was asked must be redone."""


class ServerError(WorkerDown):
    """A server answers with a status from 500 up, of which it may or may not live on."""


class WeightsLost(WorkerDown):
    """A server samples with weights that nobody gave it: it was started anew by others."""


class VllmServer:
    """A client of one server. Belongs to one event loop."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        """Connects to nothing yet."""
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._http: aiohttp.ClientSession | None = None
        self._is_asleep = False

    async def generate(self, request: Request, *, end_id: int) -> Completion:
        """Samples one message from the whole distribution.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: No answer in time, or no message with finite log-probabilities.
        """
        body = await self._post(
            "/inference/v1/generate",
            {
                "token_ids": list(request.prompt_ids),
                "sampling_params": {
                    "temperature": request.temperature,
                    "top_p": 1.0,
                    "top_k": 0,
                    "min_p": 0.0,
                    "repetition_penalty": 1.0,
                    "max_tokens": request.max_tokens,
                    "seed": request.seed & SEED_BITS,
                    "logprobs": 0,
                    "stop_token_ids": [end_id],
                    "ignore_eos": True,
                    "detokenize": False,
                },
            },
        )
        return completion_of(body, max_tokens=request.max_tokens, end_id=end_id)

    async def score(self, ids: Sequence[int]) -> list[float]:
        """Log-probabilities of all ids but the first, each given those before it.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: They are not finite numbers, one an id.
        """
        body = await self._post(
            "/inference/v1/generate",
            {
                "token_ids": list(ids),
                "sampling_params": {"max_tokens": 1, "prompt_logprobs": 0, "detokenize": False},
            },
        )
        try:
            found = [
                float(entry[str(token)]["logprob"])
                for entry, token in zip(body["prompt_logprobs"][1:], ids[1:], strict=True)
            ]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise EngineFault(f"{self.url} gave no log-probabilities of a prompt") from error
        if not all(map(math.isfinite, found)):
            raise EngineFault(f"{self.url} gave log-probabilities that are not finite")
        return found

    async def sleep(self) -> None:
        """Gives up the memory of weights, keys and values until weights are replaced.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: It cannot sleep.
        """
        await self._post("/sleep?level=2&mode=wait", {})
        self._is_asleep = True

    @asynccontextmanager
    async def replacing(self, version: int, *, timeout_s: float) -> AsyncIterator[None]:
        """Pauses the server while its weights are replaced; messages in flight then go on.

        Nothing is sampled meanwhile, and nothing that older weights computed is used again: the
        prefix cache is emptied, and messages in flight compute theirs anew. If replacing fails, the
        server is left paused, so that it samples nothing.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: It does not do as it is told.
        """
        await self._post("/pause?mode=keep&clear_cache=false", {}, timeout_s=timeout_s)
        if self._is_asleep:  # keys and values last, so that both copies of the weights fit in
            await self._post("/wake_up?tags=weights", {}, timeout_s=timeout_s)
        yield
        if self._is_asleep:
            await self._post("/wake_up?tags=kv_cache", {}, timeout_s=timeout_s)
            self._is_asleep = False
        emptied = await self._post("/reset_prefix_cache?reset_running_requests=true", {})
        if not emptied.get("success"):
            raise EngineFault(f"{self.url} kept its prefix cache")
        await self.mark(version)
        await self._post("/resume", {})

    async def read_weights(self, folder: Path, *, timeout_s: float) -> None:
        """Reads the weights of a folder, within `replacing`.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: It cannot read them.
        """
        body = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        try:
            await self._post("/collective_rpc", body, timeout_s=timeout_s)
        except ServerError as error:
            if await self.is_healthy():  # then it is the weights that it cannot stand
                raise EngineFault(str(error)) from error
            raise

    async def mark(self, version: int) -> None:
        """Names the weights that the server began with."""
        await self._post("/update_weight_version", {"new_version": str(version)})

    async def release(self) -> str:
        """Release of vLLM that answers.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: It does not say.
        """
        found = await self._get("/version")
        try:
            return str(found["version"])
        except (KeyError, TypeError) as error:
            raise EngineFault(f"{self.url}/version names no version") from error

    async def max_context(self) -> int:
        """Tokens that a request may hold, prompt and message together.

        Raises:
            WorkerDown: The server is gone.
            EngineFault: It does not say.
        """
        models = await self._get("/v1/models")
        try:
            return int(models["data"][0]["max_model_len"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise EngineFault(f"{self.url}/v1/models names no max_model_len") from error

    async def is_healthy(self, *, timeout_s: float = 5.0) -> bool:
        """Whether the server answers and its engine lives."""
        try:
            await self._call("GET", "/health", None, timeout_s)
        except (WorkerDown, EngineFault):
            return False
        return True

    async def counters(self) -> dict[str, float]:
        """What vLLM counts, summed over labels, e.g. "vllm:prefix_cache_hits_total"."""
        text = await self._call("GET", "/metrics", None, 30.0)
        totals: dict[str, float] = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                name = name.split("{")[0]
                totals[name] = totals.get(name, 0.0) + float(value)
        return totals

    async def close(self) -> None:
        """Closes the connections."""
        if self._http is not None:
            await self._http.close()

    async def _get(self, path: str) -> Any:
        return _json(await self._call("GET", path, None, 30.0), self.url + path)

    async def _post(self, path: str, body: dict[str, Any], timeout_s: float | None = None) -> Any:
        text = await self._call("POST", path, body, timeout_s or self._timeout_s)
        return _json(text, self.url + path) if text else {}

    async def _call(
        self, method: str, path: str, body: dict[str, Any] | None, timeout_s: float
    ) -> str:
        if self._http is None:
            # the default would hold back all but 100 requests; a server drops what idles for 5 s
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S)
            self._http = aiohttp.ClientSession(connector=connector)
        limit = aiohttp.ClientTimeout(total=timeout_s)
        try:
            async with self._http.request(
                method, self.url + path, json=body, timeout=limit
            ) as answer:
                text = (await answer.read()).decode(errors="replace")
                status = answer.status
        except TimeoutError as error:
            raise EngineFault(f"{self.url}{path}: no answer within {timeout_s:g} s") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise WorkerDown(
                f"{self.url}{path}: {type(error).__name__} {error}".rstrip()
            ) from error
        if status >= 500:
            raise ServerError(f"{self.url}{path} answered {status}: {_excerpt(text)}")
        if status >= 400:
            raise EngineFault(f"{self.url}{path} answered {status}: {_excerpt(text)}")
        return text


def completion_of(body: Any, *, max_tokens: int, end_id: int) -> Completion:
    """A server's answer, checked: a trainer must never meet a log-probability that is none.

    Raises:
        EngineFault: Ids and log-probabilities do not match, are too many, or are not finite; the
            message was broken off.
        WeightsLost: Other weights sampled it than those that were loaded.
    """
    try:
        choice = body["choices"][0]
        ids = tuple(map(operator.index, choice["token_ids"]))
        logprobs = tuple(map(_logprob, choice["logprobs"]["content"]))
        reason = choice["finish_reason"]
        labels = [str(span["version"]) for span in choice["weight_versions"]]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise EngineFault(
            f"an answer without ids, log-probabilities or version: {error!r}"
        ) from error
    if not labels:
        raise EngineFault("an answer that names no version of the weights")
    if not all(map(str.isdecimal, labels)):
        raise WeightsLost(f"sampled with weights {labels}, which nobody gave it")
    if not 1 <= len(ids) <= max_tokens or len(logprobs) != len(ids):
        raise EngineFault(f"{len(ids)} ids, {len(logprobs)} log-probabilities, {max_tokens} asked")
    if not all(math.isfinite(value) and value <= ROUNDING for value in logprobs):
        raise EngineFault("log-probabilities that are not finite, or above 0")
    if reason not in ("stop", "length") or (reason == "stop") != (ids[-1] == end_id):
        raise EngineFault(f"a message that ended with {reason!r} and token {ids[-1]}")
    return Completion(
        ids=ids, logprobs=logprobs, finish_reason=reason, version=min(map(int, labels))
    )


def _logprob(entry: Any) -> float:
    """NaN where vLLM had none: it sends -9999 then, or leaves out the rank."""
    value = float(entry["logprob"])
    return value if value > NO_LOGPROB and entry["rank"] is not None else math.nan


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise EngineFault(f"{where} answered no JSON: {_excerpt(text)}") from error


def _excerpt(text: str) -> str:
    return " ".join(text.split())[:300]
