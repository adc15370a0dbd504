"""Work that calls a domain's functions, for whoever must not be held up by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from toolorchestra.domain.kinds import AnyDomain

T = TypeVar("T")


async def aside(domain: AnyDomain, work: Callable[[], T]) -> T:
    """What `work` gives: done at once, or in a thread where the domain's code may hang."""
    return work() if domain.origin is None else await asyncio.to_thread(work)
