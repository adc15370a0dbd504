"""Runs many requests, some at a time; one that fails leaves the others to be kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from toolorchestra.provider.fault import LASTING, ProviderFault

T = TypeVar("T")


class NotAnswered(ValueError):
    """Some requests got no reply; those that did are kept."""


async def run_all(jobs: Sequence[Callable[[], Awaitable[T]]], *, max_concurrent: int) -> list[T]:
    """All results in order.

    After a fault that only people can mend, jobs that wait are not begun.

    Raises:
        NotAnswered: A model could not be asked.
    """
    gate = asyncio.Semaphore(max_concurrent)
    lasting = list[ProviderFault]()

    async def run(job: Callable[[], Awaitable[T]]) -> T | ProviderFault:
        async with gate:
            if lasting:
                return lasting[0]
            try:
                return await job()
            except ProviderFault as fault:
                if fault.kind in LASTING:
                    lasting.append(fault)
                return fault

    results, faults = list[T](), list[ProviderFault]()
    for result in await asyncio.gather(*map(run, jobs)):
        if isinstance(result, ProviderFault):
            faults.append(result)
        else:
            results.append(result)
    if faults:
        raise NotAnswered(
            f"{len(faults)} of {len(jobs)} requests got no reply ({faults[0]}); the others are "
            "kept: run the same command again to ask for the rest"
        )
    return results
