from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.session import RESTARTED, SandboxSession, SessionPool

pytestmark = pytest.mark.sandbox


def open_session(**changes: Any) -> SandboxSession:
    options: dict[str, Any] = {"timeout_s": 5.0, "is_stateful": True} | changes
    return SandboxSession(find_sandbox(SandboxConfig(**options)))


@pytest.fixture(params=["", "run_without_sandbox"])
async def session(request: pytest.FixtureRequest) -> AsyncIterator[SandboxSession]:
    opened = open_session(unsafe=request.param)
    yield opened
    await opened.close()


async def test_variables_live_on_and_output_stays_apart(session: SandboxSession) -> None:
    assert (await session.run("x = 20\nprint('first')")).stdout == "first\n"
    assert (await session.run("def f(): return x + 1")).stdout == ""
    result = await session.run("f() * 2")
    assert (result.stdout, result.note) == ("42\n", "")


async def test_an_error_costs_no_variables(session: SandboxSession) -> None:
    await session.run("x = 1")
    assert (await session.run("1 / 0")).message == "ZeroDivisionError: division by zero"
    assert (await session.run("import sys; sys.exit(2)")).status == "error"
    result = await session.run("x")
    assert (result.stdout, result.stderr, result.note) == ("1\n", "", "")


async def test_a_redirected_stream_is_restored_for_the_next_call(session: SandboxSession) -> None:
    await session.run("import io, sys; sys.stdout = io.StringIO(); print('lost')")
    assert (await session.run("print('seen')")).stdout == "seen\n"


async def test_a_flood_is_cut_in_its_own_call_only() -> None:
    session = open_session(max_output_bytes=1000)
    result = await session.run("print('x' * 10**7)")
    assert result.status == "output_limit"
    assert (await session.run("print('ok')")).stdout == "ok\n"
    await session.close()


@pytest.mark.parametrize("code", ["import os; os._exit(0)", "while True: pass"])
async def test_after_a_death_the_next_call_starts_afresh_and_says_so(code: str) -> None:
    session = open_session(timeout_s=0.5)
    await session.run("x = 1")
    assert (await session.run(code)).status in ("error", "timeout")
    result = await session.run("x")
    assert result.message == "NameError: name 'x' is not defined"
    assert result.note == RESTARTED
    assert (await session.run("1")).note == ""
    await session.close()


async def test_processes_of_a_call_end_with_it() -> None:
    session = open_session(max_processes=8)
    leave = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        time.sleep(60)
print("done")
"""
    for _ in range(3):  # Were they left, the second call could not start its five.
        assert (await session.run(leave)).stdout == "done\n"
    count = "import os; sum(name.isdigit() for name in os.listdir('/proc')) <= 2"
    assert (await session.run(count)).stdout == "True\n"
    await session.close()


async def test_a_cancelled_call_ends_the_interpreter() -> None:
    session = open_session()
    await session.run("x = 1")
    call = asyncio.create_task(session.run("import time; time.sleep(3)"))
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await session.run("2")).stdout == "2\n"
    await session.close()


async def test_sessions_are_apart_by_key_and_few() -> None:
    sandbox = find_sandbox(SandboxConfig(is_stateful=True))
    pool = SessionPool(sandbox, max_sessions=2)
    for key in "ab":
        await pool.run(f"x = {key!r}", key=key)
    assert (await pool.run("x", key="a")).stdout == "'a'\n"
    await pool.run("1", key="c")  # Now b, the longest unused, is gone.
    assert (await pool.run("x", key="a")).stdout == "'a'\n"
    assert (await pool.run("x", key="b")).status == "error"
    await pool.close("b")
    await pool.close("never opened")
    await pool.close_all()
