from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.integration.sandbox_runs import host_processes, until

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.result import SandboxError
from toolorchestra.sandbox.sandbox import Sandbox
from toolorchestra.sandbox.session import SandboxSession

pytestmark = pytest.mark.sandbox

MEMORY_MB = 211
MARK = str(MEMORY_MB << 20)
"""The memory limit, which stands in each command line."""
FOUND = find_sandbox(SandboxConfig())


def pooled(warm_workers: int = 1, **changes: Any) -> Sandbox:
    options: dict[str, Any] = {"timeout_s": 5.0, "memory_mb": MEMORY_MB} | changes
    return Sandbox(FOUND._launch, SandboxConfig(warm_workers=warm_workers, **options))


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    opened = pooled()
    yield opened
    await opened.close()
    assert host_processes(MARK) == []


async def warm_up(sandbox: Sandbox) -> None:
    """Return once all its workers wait."""
    await sandbox.run("None")
    starts = list(sandbox._warm._starts)
    assert starts
    await asyncio.gather(*starts)


def break_starts(sandbox: Sandbox) -> None:
    """From now on, only an interpreter that was started before can serve."""
    object.__setattr__(sandbox._launch, "bwrap", "/nowhere/bwrap")


def signal_workers(sent: signal.Signals) -> None:
    for pid in host_processes(MARK):
        with suppress(ProcessLookupError):  # One may take the others along.
            os.kill(pid, sent)


@pytest.fixture(autouse=True)
def mended() -> Iterator[None]:
    bwrap = FOUND._launch.bwrap
    yield
    object.__setattr__(FOUND._launch, "bwrap", bwrap)


@pytest.mark.parametrize(
    "code",
    [
        "print('a')\n1 + 1",
        "1 / 0",
        "import sys; print(sorted(sys.modules)); sys.exit(3)",
        "import os; print(os.getcwd(), os.listdir('.'), dict(os.environ), os.getpid())",
        "import resource\n[resource.getrlimit(n) for n in range(16)]",
        "__import__('sys').stdin.read(), dir()",
        "import os; os._exit(7)",
        "bytearray(10**9)",
        "print('x' * 99)",
        "import time; time.sleep(60)",
    ],
)
async def test_a_warm_worker_gives_the_very_result_of_a_new_one(code: str) -> None:
    limits = {"timeout_s": 0.7, "max_output_bytes": 4000}
    cold, warm = pooled(0, **limits), pooled(1, **limits)
    await warm_up(warm)
    assert await warm.run(code) == await cold.run(code)
    await warm.close()


async def test_no_worker_starts_before_the_first_call(sandbox: Sandbox) -> None:
    await asyncio.sleep(0.05)
    assert host_processes(MARK) == []


async def test_a_call_needs_no_start_where_a_worker_waits(sandbox: Sandbox) -> None:
    await warm_up(sandbox)
    break_starts(sandbox)
    assert (await sandbox.run("6 * 7")).stdout == "42\n"
    with pytest.raises(SandboxError, match="does not start"):
        await sandbox.run("6 * 7")


async def test_each_worker_serves_one_program_and_is_replaced(sandbox: Sandbox) -> None:
    leave = "import builtins; builtins.left = 1; open('/tmp/left', 'w').close()"
    look = "import os, builtins; print(hasattr(builtins, 'left'), os.path.exists('/tmp/left'))"
    for code, stdout in ((leave, ""), (look, "False False\n"), (look, "False False\n")):
        await warm_up(sandbox)
        assert (await sandbox.run(code)).stdout == stdout


async def test_waiting_costs_a_program_none_of_its_time() -> None:
    sandbox = pooled(timeout_s=0.6)
    await warm_up(sandbox)
    await asyncio.sleep(0.7)
    assert (await sandbox.run("import time; time.sleep(0.1); 1")).stdout == "1\n"
    await sandbox.close()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_worker_that_fails_while_it_waits_is_not_noticed(sent: signal.Signals) -> None:
    sandbox = pooled(timeout_s=1.0)
    await warm_up(sandbox)
    signal_workers(sent)
    assert (await sandbox.run("6 * 7")).stdout == "42\n"  # At once: its end may not be known yet.
    await until(lambda: sandbox._warm._starts[0].done())
    signal_workers(sent)
    await asyncio.sleep(0.2)
    assert (await sandbox.run("6 * 7")).stdout == "42\n"
    await sandbox.close()
    assert host_processes(MARK) == []


async def test_where_nothing_starts_the_caller_gets_the_usual_fault() -> None:
    sandbox = pooled(3)
    break_starts(sandbox)
    for _ in range(2):
        with pytest.raises(SandboxError, match="does not start"):
            await sandbox.run("1")
    await sandbox.close()


async def test_many_calls_at_one_time_are_served_by_few_workers() -> None:
    sandbox = pooled(2)
    results = await asyncio.gather(*(sandbox.run(f"{n}") for n in range(8)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(8)]
    assert len(sandbox._warm._starts) == 2
    await sandbox.close()
    assert host_processes(MARK) == []


async def test_closing_at_once_leaves_nothing_behind_and_can_be_undone() -> None:
    sandbox = pooled(3)
    for _ in range(2):
        await sandbox.run("1")
        await sandbox.close()
        assert host_processes(MARK) == []


async def test_a_caller_that_gives_up_leaves_its_worker_to_others() -> None:
    sandbox = pooled(1)
    waiting = asyncio.create_task(sandbox.run("1"))
    while not sandbox._warm._starts:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await sandbox.run("2")).stdout == "2\n"
    await sandbox.close()
    assert host_processes(MARK) == []


async def test_a_session_takes_its_start_from_the_pool() -> None:
    sandbox = pooled(1, is_stateful=True)
    first, second = SandboxSession(sandbox), SandboxSession(sandbox)
    await first.run("x = 1")
    await asyncio.gather(*sandbox._warm._starts)
    break_starts(sandbox)
    assert (await second.run("x = 2")).status == "ok"
    assert [(await session.run("x")).stdout for session in (first, second)] == ["1\n", "2\n"]
    for held in (first, second, sandbox):
        await held.close()
    assert host_processes(MARK) == []


def test_one_pool_serves_several_event_loops() -> None:
    sandbox = pooled(2)
    for n in range(2):
        assert asyncio.run(sandbox.run(f"{n}")).stdout == f"{n}\n"
    asyncio.run(sandbox.close())
    assert host_processes(MARK) == []


def test_an_event_loop_that_ends_in_the_middle_of_starts_leaves_nothing_behind() -> None:
    sandbox = pooled(3)

    async def use(delay_s: float) -> None:
        taken = asyncio.create_task(sandbox.run("1"))
        await asyncio.sleep(delay_s)
        del taken

    for delay_ms in range(2, 42, 4):
        asyncio.run(use(delay_ms / 1000))
    asyncio.run(sandbox.close())
    assert host_processes(MARK) == []
