"""Replies that are kept as they come, so that a run that was killed pays for none of them twice."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.codec import from_json, to_json
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.provider.base import ChatModel, Message, Reply, Sampling
from toolorchestra.types import Price, Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """One reply with all that led to it: a line of the file."""

    key: str
    """A digest of model, messages and sampling, and of the attempt where there are many."""
    model: str
    messages: tuple[Message, ...]
    text: str
    is_cut: bool
    usage: Usage
    cost_usd: float
    latency_s: float


class KeptReplies:
    """A file of replies."""

    def __init__(self, path: Path) -> None:
        """Reads what is there; a last line that a kill cut off is taken away.

        Raises:
            ValueError: A line is no reply.
        """
        self._path = path
        self._kept: dict[str, Kept] = {}
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            os.truncate(path, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                kept = from_json(Kept, json.loads(line), "reply")
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"out: {path}:{number} is not allowed ({error}); use another folder, or "
                    "delete this line, and it is asked for again"
                ) from error
            self._kept[kept.key] = kept

    @property
    def num_kept(self) -> int:
        """How many replies there are."""
        return len(self._kept)

    @property
    def cost_usd(self) -> float:
        """What all replies cost, those of earlier runs too."""
        return math.fsum(kept.cost_usd for kept in self._kept.values())  # whatever came first

    def get(self, key: str) -> Kept | None:
        """The reply of that name, if there is one."""
        return self._kept.get(key)

    def put(self, kept: Kept) -> None:
        """Writes a reply down before anything is made of it."""
        self._kept[kept.key] = kept
        line = json.dumps(to_json(kept), ensure_ascii=False) + "\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


class KeptModel:
    """A model that is asked only what it was not asked before."""

    def __init__(
        self,
        model: ChatModel,
        name: str,
        price: Price,
        replies: KeptReplies,
        *,
        attempt: int | None = None,
    ) -> None:
        """Asks nobody yet.

        Args:
            model: Whom to ask.
            name: Its name in the pricing schedules.
            price: What it costs.
            replies: Where replies go.
            attempt: Tells equal requests apart where the model is to try more than once.
        """
        self._model, self._name, self._price, self._replies = model, name, price, replies
        self._apart = [] if attempt is None else [attempt]

    async def complete(
        self, messages: Sequence[Message], *, sampling: Sampling, deadline_s: float
    ) -> Reply:
        """See `ChatModel.complete`."""
        asked: list[Any] = [self._name, to_json(list(messages), "messages"), to_json(sampling)]
        asked += self._apart
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        kept = self._replies.get(key)
        if kept is None:
            reply = await self._model.complete(messages, sampling=sampling, deadline_s=deadline_s)
            kept = Kept(
                key=key,
                model=self._name,
                messages=tuple(messages),
                text=reply.text.encode(errors="replace").decode(),  # half a surrogate pair
                is_cut=reply.is_cut,
                usage=reply.usage,
                cost_usd=cost_usd(reply.usage, self._price),
                latency_s=reply.latency_s,
            )
            self._replies.put(kept)
        return Reply(
            text=kept.text,
            reasoning="",
            is_cut=kept.is_cut,
            usage=kept.usage,
            latency_s=kept.latency_s,
            attempts=(),
        )
