from __future__ import annotations

import asyncio

import pytest

from toolorchestra.sandbox.cache import SandboxCache
from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.result import SandboxError, SandboxResult


class Counter:
    """Stands for a sandbox: counts the runs."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.num_cancelled = 0

    async def run(self, code: str, files: tuple[InputFile, ...]) -> SandboxResult:
        self.codes.append(code)
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            self.num_cancelled += 1
            raise
        if code == "broken":
            raise SandboxError("broken")
        return SandboxResult(status="ok", stdout=code)


async def test_the_same_code_runs_once_at_the_same_time_and_later() -> None:
    counter = Counter()
    cache = SandboxCache(counter.run, max_entries=2)
    results = await asyncio.gather(*(cache.run("a") for _ in range(5)))
    assert {result.stdout for result in results} == {"a"}
    await cache.run("a")
    assert counter.codes == ["a"]


async def test_the_longest_unused_result_is_forgotten() -> None:
    counter = Counter()
    cache = SandboxCache(counter.run, max_entries=2)
    for code in "abacab":  # c drives out b, b drives out c
        await cache.run(code)
    assert counter.codes == ["a", "b", "c", "b"]


async def test_a_failure_of_the_sandbox_is_not_remembered() -> None:
    counter = Counter()
    cache = SandboxCache(counter.run, max_entries=2)
    for _ in range(2):
        with pytest.raises(SandboxError):
            await cache.run("broken")
    assert counter.codes == ["broken", "broken"]


async def test_a_caller_that_gives_up_takes_nobody_else_along() -> None:
    counter = Counter()
    cache = SandboxCache(counter.run, max_entries=2)
    first, second = (asyncio.create_task(cache.run("a")) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await second).stdout == "a"
    assert counter.num_cancelled == 0
    alone = asyncio.create_task(cache.run("b"))
    await asyncio.sleep(0.01)
    alone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await alone
    await asyncio.sleep(0.01)
    assert counter.num_cancelled == 1


async def test_the_same_code_on_other_files_is_another_program() -> None:
    counter = Counter()
    cache = SandboxCache(counter.run, max_entries=4)
    for digest in "aab":
        await cache.run("x", (InputFile(name="f", data=b"", sha256=digest),))
    assert counter.codes == ["x", "x"]
