"""What the rest of the project sees of a model behind an API: messages in, one reply out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from toolorchestra.provider.fault import FaultKind
from toolorchestra.types import Json, Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionCall:
    """A call of a function that a model asks for."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: meant to be JSON, which they need not be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[FunctionCall, ...] = ()
    """Of an assistant's message; each is answered by a tool's message with its id."""
    reasoning: str = ""
    """Of an assistant's message, where its thoughts are to be shown to it again."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How a model is to answer; None leaves a choice to the provider."""

    max_tokens: int | None = None
    """Longest reply, reasoning included."""
    temperature: float | None = None
    """Not sent to models that refuse it: leave it None for reasoning models."""
    reasoning_effort: str | None = None
    """For reasoning models, e.g. "low" or "high"."""
    json_schema: Json | None = None
    """Asks for a reply that is JSON of this schema, where the provider can do so."""
    tools: tuple[Json, ...] = ()
    """OpenAI function schemas that the model may call; Chat Completions alone."""
    parallel_calls: bool | None = None
    """Whether a message may call several; said only where there are tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One request that was sent, whatever came of it."""

    usage: Usage
    """As reported; of an attempt that failed without a report, all zero."""
    latency_s: float
    fault: FaultKind | None = None
    """None: it was answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    reasoning: str
    """Its thoughts, where the provider shows them."""
    is_cut: bool
    """Whether the reply ended at a limit of tokens."""
    usage: Usage
    """Summed over all attempts: what failed was paid for too, where the provider says so."""
    latency_s: float
    """Service time of the attempt that was answered, neither queueing nor earlier attempts."""
    attempts: tuple[Attempt, ...]
    """All requests sent for this reply, in order; the last is the one that was answered."""
    calls: tuple[FunctionCall, ...] = ()
    """What it wants to be called, where it was given tools."""
    is_filtered: bool = False
    """Whether the provider's filter of contents ended it."""


class ChatModel(Protocol):
    """A model that answers messages."""

    async def complete(
        self, messages: Sequence[Message], *, sampling: Sampling, deadline_s: float
    ) -> Reply:
        """Asks for one reply, again and again where that may help, within a deadline.

        Raises:
            ProviderFault: There is none; the rollout that asked is void.
        """
        ...
