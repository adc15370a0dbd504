"""What the rollout loop asks of whatever samples the policy's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from transformers import PreTrainedModel

from toolorchestra.provider.base import Reply
from toolorchestra.types import Episode, FinishReason, Turn, Usage


class EngineFault(Exception):
    """The engine failed a rollout, which is then void and played anew: the policy is not to blame.

    An engine that cannot go on raises something else, which ends the run.
    """

    def __init__(self, message: str, *, usage: Usage = Usage()) -> None:  # noqa: B008
        """Says what happened, and what was used up for it at a provider."""
        super().__init__(message)
        self.usage = usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One message to be sampled.

    Token engines read `prompt_ids` alone; engines that play or call another policy read the
    episode and its turns, and an API is given no ids. `session` names the rollout, so that its
    prefix is computed once.
    """

    prompt_ids: tuple[int, ...]
    session: str
    seed: int
    """Makes the sample a function of the request: how requests are batched does not matter."""
    max_tokens: int
    temperature: float
    """0 is greedy."""
    episode: Episode
    turns: Sequence[Turn]


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """Sampled ids with the log-probability of each, and the weight version that sampled them."""

    ids: tuple[int, ...]
    """Includes the end-of-turn id where the policy sampled it."""
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    version: int
    """Of the oldest weights that sampled any of it."""
    reply: Reply | None = None
    """Of an API, which answers in text and calls: what it said, in place of ids."""
    is_context_full: bool = False
    """Whether an API had no room for another message."""


class Engine(Protocol):
    """Samples policy messages.

    `version` is the weight version in use, 0 for the start.
    """

    version: int

    def rollout(self, session: str) -> AbstractAsyncContextManager[None]:
        """Holds what the engine keeps for one rollout; entered before its first request."""
        ...

    async def generate(self, request: Request) -> Completion:
        """Samples one message."""
        ...


class PolicyEngine(Engine, Protocol):
    """Samples from the weights of the policy, as it last took them.

    `is_resting` says that it must `load` before it can sample again, changed weights or not.
    """

    is_resting: bool

    async def load(self, model: PreTrainedModel, version: int) -> Mapping[str, float]:
        """Samples from `model`'s weights, as they are now, from the next message on.

        Returns:
            What is worth logging of it.
        """
        ...

    async def rest(self) -> None:
        """Hears that a step has its rollouts: a `load` follows once the step is done."""
        ...

    async def close(self) -> None:
        """Ends all that the engine started."""
        ...
