"""Plays a scripted policy through the very loop that models run in: the baselines' engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from toolorchestra.engine.base import Completion, Request
from toolorchestra.types import Episode, Turn


class ScriptedPolicy(Protocol):
    """Writes the next message of an episode, as text in the policy's own format."""

    def __call__(self, episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
        """Returns the message, without its end marker."""
        ...


class ScriptedEngine:
    """Tokenises what `policy` writes; every token has log-probability 0, as it was certain."""

    def __init__(
        self, policy: ScriptedPolicy, tokenizer: PreTrainedTokenizerBase, *, end_id: int
    ) -> None:
        self.version = 0
        self._policy, self._tokenizer, self._end_id = policy, tokenizer, end_id

    @asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """Holds nothing."""
        yield

    async def generate(self, request: Request) -> Completion:
        """Writes one message; see `Engine`. One over `max_tokens` is cut, as a model's is."""
        text = self._policy(request.episode, request.turns, Random(request.seed))
        ids = [*self._tokenizer.encode(text, add_special_tokens=False), self._end_id]
        is_cut = len(ids) > request.max_tokens
        ids = ids[: request.max_tokens]
        return Completion(
            ids=tuple(ids),
            logprobs=(0.0,) * len(ids),
            finish_reason="length" if is_cut else "stop",
            version=self.version,
        )
