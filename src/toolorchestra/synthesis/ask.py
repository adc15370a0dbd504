"""Asks a model until its reply can be used, a few times at most."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from toolorchestra.codec import from_json
from toolorchestra.pricing.total import total_usage
from toolorchestra.provider.base import ChatModel, Message, Sampling
from toolorchestra.synthesis.config import AskedConfig
from toolorchestra.tool.expert_config import AnswerLimits
from toolorchestra.tool.expert_prompt import without_thoughts
from toolorchestra.types import Json, Usage

T = TypeVar("T")

NUM_REPAIRS = 2
"""How often a model may mend a reply that is to be JSON."""
_FENCE = re.compile(r"```(?:json)?\s*(?P<body>.*?)\s*```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading(Generic[T]):
    """What was made of a reply."""

    value: T | None
    """What can be used of it; None: nothing."""
    fault: str = ""
    """What the model is told to mend; empty: nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked(Generic[T]):
    """What asking came to."""

    value: T | None
    """Of the last reply of which something can be used."""
    fault: str
    """What was wrong with the last reply; empty: nothing."""
    said: str
    """The last reply, without the model's thoughts."""
    usage: Usage
    """Of all replies."""


async def ask(
    model: ChatModel,
    config: AskedConfig,
    text: str,
    read: Callable[[str], Reading[T]],
    *,
    deadline_s: float,
    num_repairs: int,
    json_schema: Json | None = None,
) -> Asked[T]:
    """Asks once, and again with what was wrong while there is something wrong.

    Args:
        model: Whom to ask.
        config: Its instruction and limits.
        text: The user's message.
        read: Makes something of a reply, without the model's thoughts.
        deadline_s: For each reply.
        num_repairs: How often it may mend what it said.
        json_schema: That of the replies, if they are to be JSON.

    Raises:
        ProviderFault: It could not be asked.
    """
    messages = [
        Message(role="system", content=config.system.strip()),
        Message(role="user", content=text),
    ]
    return await go_on(
        model,
        config.limits,
        messages,
        read,
        deadline_s=deadline_s,
        num_repairs=num_repairs,
        json_schema=json_schema,
    )


async def go_on(
    model: ChatModel,
    limits: AnswerLimits,
    messages: Sequence[Message],
    read: Callable[[str], Reading[T]],
    *,
    deadline_s: float,
    num_repairs: int,
    json_schema: Json | None = None,
) -> Asked[T]:
    """As `ask`, for the next reply in a conversation."""
    sampling = Sampling(
        max_tokens=limits.max_tokens,
        temperature=limits.temperature,
        reasoning_effort=limits.reasoning_effort,
        json_schema=json_schema,
    )
    used, value = list[Usage](), None
    for _ in range(num_repairs + 1):
        reply = await model.complete(messages, sampling=sampling, deadline_s=deadline_s)
        used.append(reply.usage)
        said = without_thoughts(reply.text)
        # in a thread: to read may mean to try out what was written, which takes its time
        reading = await asyncio.to_thread(read, said)
        value = value if reading.value is None else reading.value
        if not reading.fault:
            break
        messages = [
            *messages,
            Message(role="assistant", content=reply.text),
            Message(role="user", content=reading.fault),
        ]
    return Asked(value=value, fault=reading.fault, said=said, usage=total_usage(used))


def json_of(text: str) -> Any:
    """The JSON value that is the whole of a reply, or of the one code fence in it.

    Raises:
        ValueError: There is none.
    """
    fences = _FENCE.findall(text)
    try:
        return json.loads(fences[0] if len(fences) == 1 else text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the reply is no JSON ({error})") from error


def record_of(kind: type[T], text: str) -> T:
    """The record that is the whole of a reply.

    Raises:
        ValueError: There is none.
    """
    value = json_of(text)
    check_writable(value)
    return from_json(kind, value, "reply")


def check_writable(value: Any) -> None:
    """Raises ValueError for a JSON value that no file can hold: NaN, half a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise ValueError("nested without end") from None
