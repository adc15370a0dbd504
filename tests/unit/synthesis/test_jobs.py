"""Many requests at once: order, limits, and what becomes of faults."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from toolorchestra.provider.fault import ProviderFault
from toolorchestra.synthesis.jobs import NotAnswered, run_all


class Counting:
    def __init__(self, *, fails=(), kind="server"):
        self.open = self.most_open = 0
        self.begun: list[int] = []
        self._fails, self._kind = fails, kind

    async def job(self, number):
        self.begun.append(number)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(0.001 * (10 - number))
        self.open -= 1
        if number in self._fails:
            raise ProviderFault(f"no answer to {number}", kind=self._kind)
        return number

    async def run(self, num_jobs=6, max_concurrent=2):
        jobs = [partial(self.job, number) for number in range(num_jobs)]
        return await run_all(jobs, max_concurrent=max_concurrent)


async def test_results_come_in_order_and_no_more_jobs_run_than_are_allowed():
    counting = Counting()
    assert await counting.run() == [0, 1, 2, 3, 4, 5]
    assert counting.most_open == 2


async def test_a_fault_leaves_the_others_to_run_and_is_counted():
    counting = Counting(fails=(1, 4))
    with pytest.raises(NotAnswered, match=r"^2 of 6 requests got no reply \(no answer to 1\)"):
        await counting.run()
    assert sorted(counting.begun) == [0, 1, 2, 3, 4, 5]


async def test_after_a_lasting_fault_nothing_more_is_begun():
    counting = Counting(fails=(0,), kind="auth")
    with pytest.raises(NotAnswered, match=r"^6 of 6 requests got no reply"):
        await counting.run(max_concurrent=1)
    assert counting.begun == [0]


async def test_what_is_no_fault_of_a_provider_ends_it():
    async def broken():
        raise KeyError("mistake")

    with pytest.raises(KeyError):
        await run_all([broken], max_concurrent=1)
