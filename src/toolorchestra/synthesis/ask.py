"""Asks a model until its reply can be used, a few times at most."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from toolorchestra.pricing.total import total_usage
from toolorchestra.provider.base import ChatModel, Message, Sampling
from toolorchestra.synthesis.config import AskedConfig
from toolorchestra.tool.expert_prompt import without_thoughts
from toolorchestra.types import Json, Usage

T = TypeVar("T")

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
    limits = config.limits
    sampling = Sampling(
        max_tokens=limits.max_tokens,
        temperature=limits.temperature,
        reasoning_effort=limits.reasoning_effort,
        json_schema=json_schema,
    )
    messages = [
        Message(role="system", content=config.system.strip()),
        Message(role="user", content=text),
    ]
    used, value = list[Usage](), None
    for _ in range(num_repairs + 1):
        reply = await model.complete(messages, sampling=sampling, deadline_s=deadline_s)
        used.append(reply.usage)
        reading = read(without_thoughts(reply.text))
        value = value if reading.value is None else reading.value
        if not reading.fault:
            break
        messages = [
            *messages,
            Message(role="assistant", content=reply.text),
            Message(role="user", content=reading.fault),
        ]
    return Asked(value=value, fault=reading.fault, usage=total_usage(used))


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
