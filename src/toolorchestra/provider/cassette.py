"""Cassettes: what outside services answered, written down and read back in their place.

A line is one call: `{"key", "request", "answer"}` or, where it failed for good, "fault". The key is
a hash of who calls (rollout, tool and number of the call, see `calling`) and of what is asked, so
that in a replay each call of each rollout gets its own answer, in whatever order they come; equal
keys are answered in order. What is kept is the outcome of a call with all its attempts: a deadline
that was missed is missed again, without waiting for it. No header and no key is kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from toolorchestra.codec import from_json, to_json
from toolorchestra.provider.config import CassetteConfig
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.secrets import Secrets
from toolorchestra.types import Json, Usage

T = TypeVar("T")

_CALLER: ContextVar[str] = ContextVar("caller", default="")


class CassetteMiss(ValueError):
    """A replay was asked for what was never recorded."""


@contextmanager
def calling(caller: str) -> Iterator[None]:
    """Names who makes the calls of this block, e.g. a rollout's third call of a tool."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


class Cassette:
    """One cassette file, recorded or replayed. Safe to use from several threads."""

    def __init__(self, config: CassetteConfig) -> None:
        """Reads the file when replaying; when recording, it begins with the first call.

        Raises:
            ValueError: It is there already when recording, missing or corrupt when replaying.
        """
        self.mode = config.mode
        self.secrets = Secrets()
        """What no line may hold."""
        self._path, self._lock, self._is_begun = Path(config.path), threading.Lock(), False
        self._lines: dict[str, deque[Json]] = defaultdict(deque)
        if self.mode == "record" and self._path.exists():
            raise self._taken()
        if self.mode == "replay":
            self._read()

    async def through(self, kind: type[T], request: Json, live: Callable[[], Awaitable[T]]) -> T:
        """The answer to a request: asked for by `live`, and kept, or read back.

        Args:
            kind: The record that answers are.
            request: All that tells this request from others.
            live: Asks the service.

        Raises:
            ProviderFault: The service failed, now or when it was recorded.
            CassetteMiss: A replay holds no answer to this request.
        """
        if self.mode == "replay":
            return self._find(kind, request)
        if self.mode == "off":
            return await live()
        try:
            answer = await live()
        except ProviderFault as fault:
            self._add(request, fault=fault)
            raise
        except asyncio.CancelledError:
            self._add(request, fault=ProviderFault("cut off by a deadline", kind="timeout"))
            raise
        self._add(request, answer=to_json(answer))
        return answer

    def _find(self, kind: type[T], request: Json) -> T:
        key = _key(request)
        with self._lock:
            line = self._lines[key].popleft() if self._lines[key] else None
        if line is None:
            caller = f" by {_CALLER.get()}" if _CALLER.get() else ""
            raise CassetteMiss(
                f"provider.cassette: {self._path} holds no (further) answer to this call{caller}: "
                f"{json.dumps(request, ensure_ascii=False)[:200]}; record it again with the same "
                "config, seed and policy"
            )
        if "fault" in line:
            fault = ProviderFault(line["fault"]["message"], kind=line["fault"]["kind"])
            fault.usage = from_json(Usage, line["fault"]["usage"])
            raise fault
        return from_json(kind, line["answer"])

    def _add(
        self, request: Json, *, answer: Json | None = None, fault: ProviderFault | None = None
    ) -> None:
        """Writes down one call, without keys."""
        line: Json = {"key": _key(request), "request": request}
        if fault is None:
            line["answer"] = answer
        else:
            usage = to_json(fault.usage)
            line["fault"] = {"kind": fault.kind, "message": str(fault), "usage": usage}
        text = self.secrets.hide(json.dumps(line, ensure_ascii=False))
        with self._lock:
            if not self._is_begun:
                self._begin()
            with self._path.open("a", encoding="utf-8", newline="") as file:
                file.write(text + "\n")

    def _begin(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._path.open("x").close()
        except FileExistsError:
            raise self._taken() from None
        self._is_begun = True

    def _taken(self) -> ValueError:
        return ValueError(
            f"provider.cassette.path: {self._path} is not allowed, as it is there already; "
            "use another file, or provider.cassette.mode=replay"
        )

    def _read(self) -> None:
        try:
            # not splitlines(), which takes more than a newline for one
            lines = self._path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        except FileNotFoundError:
            raise ValueError(
                f"provider.cassette.path: {self._path} is not allowed, as there is no such file; "
                "use one that was made with provider.cassette.mode=record"
            ) from None
        for number, text in enumerate(lines if lines != [""] else [], start=1):
            try:
                line = json.loads(text)
                if not ("answer" in line or {"kind", "message", "usage"} <= set(line["fault"])):
                    raise ValueError("neither answer nor fault")
                self._lines[line["key"]].append(line)
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"{self._path}:{number}: no line of a cassette: {error}") from None


def _key(request: Json) -> str:
    text = json.dumps([_CALLER.get(), request], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
