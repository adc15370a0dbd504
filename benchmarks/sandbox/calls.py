"""The work of both sides: the same programs, some at one time, each result checked."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass
from statistics import fmean

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.sandbox import Sandbox


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """How calls come."""

    num_concurrent: int
    pause_s: float = 0.0
    """Time between an answer and the next call, as the policy takes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """What came of them."""

    per_second: float
    wait_s: float
    """Mean time of a call."""


def open_side(*, warm_workers: int) -> Sandbox:
    """The sandbox of one side; all else is alike."""
    return find_sandbox(SandboxConfig(warm_workers=warm_workers))


async def measure(sandbox: Sandbox, load: Load, *, duration_s: float) -> Calls:
    """Call for some time; the first call of each caller, which fills the pool, does not count.

    Raises:
        RuntimeError: A result is wrong.
    """
    numbers = itertools.count()
    callers = range(load.num_concurrent)
    await asyncio.gather(*(_call(sandbox, next(numbers)) for _ in callers))
    await asyncio.sleep(0.5)
    waits_s: list[float] = []
    start_s = time.perf_counter()

    async def caller() -> None:
        while time.perf_counter() - start_s < duration_s:
            waits_s.append(await _call(sandbox, next(numbers)))
            await asyncio.sleep(load.pause_s)

    await asyncio.gather(*(caller() for _ in callers))
    num_per_second = len(waits_s) / (time.perf_counter() - start_s)
    return Calls(per_second=num_per_second, wait_s=fmean(waits_s))


async def _call(sandbox: Sandbox, number: int) -> float:
    start_s = time.perf_counter()
    result = await sandbox.run(f"sum(range({number}))")
    if result.stdout != f"{sum(range(number))}\n":
        raise RuntimeError(f"call {number} gave {result}")
    return time.perf_counter() - start_s
