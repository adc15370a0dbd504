"""Attempts to exhaust the machine or to confuse the host; each must end at its limit."""

from __future__ import annotations

import asyncio
import resource
import time

import pytest
from tests.integration.sandbox_runs import host_processes, most_processes, run

pytestmark = pytest.mark.sandbox


async def test_a_fork_bomb_stays_within_its_number() -> None:
    mark = str(191 << 20)  # The memory limit, which stands in each command line.
    bomb = """
    import os
    while True:
        try:
            os.fork()
        except OSError:
            pass
    """
    running = asyncio.create_task(run(bomb, memory_mb=191, max_processes=12, timeout_s=1.5))
    most = await most_processes(mark, running)
    assert 8 <= most <= 12 + 2  # bubblewrap's own two, which cannot fork further.
    assert (await running).status == "timeout"
    assert host_processes(mark) == []


async def test_a_thread_bomb_stays_within_its_number() -> None:
    result = await run(
        """
        import threading, time
        num_threads = 0
        try:
            while True:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                num_threads += 1
        except RuntimeError:
            print(num_threads)
        """,
        max_processes=12,
    )
    assert 1 <= int(result.stdout) <= 12


async def test_two_runs_do_not_share_one_process_limit() -> None:
    hold = """
    import os, time
    num_children = 0
    for _ in range(9):
        if os.fork() == 0:
            time.sleep(60)
        num_children += 1
    time.sleep(0.5)
    print(num_children)
    """
    results = await asyncio.gather(*(run(hold, max_processes=12) for _ in range(3)))
    assert [result.stdout for result in results] == ["9\n"] * 3


async def test_a_memory_hog_ends_at_its_limit() -> None:
    result = await run("held = []\nwhile True: held.append(bytearray(1 << 24))", memory_mb=128)
    assert result.status == "memory"
    assert result.message == "needed more than 128 MB of memory"


async def test_memory_of_a_mapping_counts() -> None:
    result = await run("import mmap; mmap.mmap(-1, 1 << 30)", memory_mb=128)
    assert result.status in ("error", "memory")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_flood_of_output_is_cut_and_not_held(stream: str) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await run(
        f"""
        import sys
        for _ in range(100):
            sys.{stream}.write("x" * 10**6)
        """,
        max_output_bytes=1000,
        timeout_s=20,
    )
    kept = getattr(result, stream)
    assert kept == "x" * 1000 + f"\n[{10**8 - 1000} more bytes were cut]"
    assert result.status == ("output_limit" if stream == "stdout" else "ok")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 40_000


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(60)",
        "import signal, time\nfor n in range(1, 65):\n  try: signal.signal(n, signal.SIG_IGN)\n"
        "  except (OSError, ValueError): pass\ntime.sleep(60)",
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
        "import atexit, time; atexit.register(time.sleep, 60)",
        "10**10**9",
    ],
)
async def test_whatever_takes_too_long_is_ended(code: str) -> None:
    mark = str(197 << 20)
    start_s = time.monotonic()
    result = await run(code, timeout_s=0.5, memory_mb=197)
    assert result.status == "timeout"
    assert time.monotonic() - start_s < 4
    assert host_processes(mark) == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os; os._exit(0)", "the program ended the interpreter (exit code 0)"),
        ("import os; os._exit(7)", "the program ended the interpreter (exit code 7)"),
        (
            "import ctypes; ctypes.string_at(0)",
            "the program ended the interpreter (signal SIGSEGV)",
        ),
    ],
)
async def test_a_crash_of_the_interpreter_is_an_error(code: str, message: str) -> None:
    result = await run(code)
    assert (result.status, result.message) == ("error", message)


async def test_standard_input_is_empty() -> None:
    result = await run("import sys; print(repr(sys.stdin.read())); input()")
    assert result.stdout == "''\n"
    assert result.message == "EOFError: EOF when reading a line"


async def test_noise_on_every_descriptor_confuses_nobody() -> None:
    result = await run(
        """
        import os
        for descriptor in range(3, 64):
            for _ in range(100):
                try:
                    os.write(descriptor, b"ok \\n" + bytes(range(256)) * 16)
                except OSError:
                    pass
        os._exit(5)
        """
    )
    assert result.status == "error"
    assert (await run("1 + 1")).stdout == "2\n"
