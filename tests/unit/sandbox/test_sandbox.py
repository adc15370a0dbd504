from __future__ import annotations

import asyncio
import logging
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.result import SandboxError, SandboxResult
from toolorchestra.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.sandbox

Run = Callable[..., SandboxResult]


def config(**changes: Any) -> SandboxConfig:
    return SandboxConfig(**({"timeout_s": 5.0} | changes))


@pytest.fixture(params=["", "run_without_sandbox"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return find_sandbox(config(unsafe=request.param))


@pytest.mark.parametrize(
    ("code", "stdout"),
    [
        ("print(sum(range(5)))", "10\n"),
        ("sum(range(5))", "10\n"),
        ("x = 2\nx + 1", "3\n"),
        ("'a'", "'a'\n"),
        ("print(1)\n2", "1\n2\n"),
        ("None", ""),
        ("x = 3", ""),
        ("", ""),
        ("# nothing", ""),
        ("def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nf(10)", "55\n"),
        ("[n for n in range(3)]", "[0, 1, 2]\n"),
        ("import sys\nprint('é∑')\nsys.exit(0)", "é∑\n"),
        ("import os\nos.fork()\nos.getpid() < 0", "False\nFalse\n"),
        ("import subprocess\nsubprocess.run(['echo', 'hi']).returncode", "hi\n0\n"),
        (
            "import threading, time\n"
            "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
            "late\n",
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'int'\nP(1)",
            "P(x=1)\n",
        ),
        ("__name__", "'__main__'\n"),
        ("print(1); import sys; sys.stdout = None", "1\n"),
    ],
)
async def test_a_program_gives_its_prints_and_its_last_value(
    sandbox: Sandbox, code: str, stdout: str
) -> None:
    result = await sandbox.run(code)
    assert (result.status, result.stdout, result.message) == ("ok", stdout, "")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("What is 2 + 2?", "SyntaxError: invalid syntax (line 1)"),
        ("def f(:\n", "SyntaxError: invalid syntax (line 1)"),
        ("raise ValueError('a\\nb')", "ValueError: a b"),
        ("raise KeyError", "KeyError"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("class E(Exception):\n  def __str__(self): 1 / 0\nraise E", "E: <unprintable>"),
        ("import numpy", "ModuleNotFoundError: No module named 'numpy'"),
        ("print('\\ud800')", "UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud800' "
         "in position 0: surrogates not allowed"),
    ],
)  # fmt: skip
async def test_an_exception_is_an_error_of_one_line(
    sandbox: Sandbox, code: str, message: str
) -> None:
    result = await sandbox.run(code)
    assert (result.status, result.message) == ("error", message)


async def test_code_that_is_no_text_is_an_error(sandbox: Sandbox) -> None:
    assert "null bytes" in (await sandbox.run("1\0")).message  # its class differs by version
    assert (await sandbox.run("'\ud800'")).message.startswith("UnicodeEncodeError")


async def test_the_traceback_shows_the_programs_lines_and_no_others(sandbox: Sandbox) -> None:
    result = await sandbox.run("def f():\n    return 1 / 0\nprint('before')\nf()")
    assert result.stdout == "before\n"
    assert "return 1 / 0" in result.stderr
    assert result.stderr.count("File ") == 2


async def test_a_timeout_and_a_memory_limit_are_told_apart(sandbox: Sandbox) -> None:
    quick = Sandbox(sandbox._launch, config(timeout_s=0.5, memory_mb=128))
    assert (await quick.run("while True: pass")).status == "timeout"
    assert (await quick.run("bytearray(10**9)")).status == "memory"


async def test_output_beyond_the_limit_is_cut_with_a_word(sandbox: Sandbox) -> None:
    result = await Sandbox(sandbox._launch, config(max_output_bytes=10)).run("print('x' * 99)")
    assert result.status == "output_limit"
    assert result.stdout == "xxxxxxxxxx\n[90 more bytes were cut]"


async def test_a_program_longer_than_a_pipe_arrives_whole(sandbox: Sandbox) -> None:
    assert (await sandbox.run("#" * 300_000 + "\n7")).stdout == "7\n"


async def test_a_cancelled_run_leaves_no_process(sandbox: Sandbox) -> None:
    marked = Sandbox(sandbox._launch, config(memory_mb=199, timeout_s=60))
    running = asyncio.create_task(marked.run("import time; time.sleep(60)"))
    while not marked_processes(199):
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert marked_processes(199) == []


async def test_a_run_cancelled_at_any_moment_of_its_start_leaves_no_process(
    sandbox: Sandbox,
) -> None:
    marked = Sandbox(sandbox._launch, config(memory_mb=229, timeout_s=60))
    for delay_ms in range(0, 80, 4):
        running = asyncio.create_task(marked.run("import time; time.sleep(60)"))
        await asyncio.sleep(delay_ms / 1000)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert marked_processes(229) == []


def marked_processes(memory_mb: int) -> list[str]:
    """Host processes that carry this memory limit in their command line."""
    mark = str(memory_mb << 20).encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


async def test_runs_from_many_tasks_do_not_mix(sandbox: Sandbox) -> None:
    results = await asyncio.gather(*(sandbox.run(f"print({n})") for n in range(8)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(8)]


def test_without_bubblewrap_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="install the package bubblewrap.*run_without_sandbox"):
        find_sandbox(config())


def test_a_bubblewrap_that_fails_is_named_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(
        textwrap.dedent(
            """\
            #!/bin/sh
            [ "$1" = --version ] && echo bubblewrap 0.8.0 && exit
            echo bwrap: No permissions to create new namespace >&2
            exit 1
            """
        )
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ValueError, match="does not work here: bwrap: No permissions"):
        find_sandbox(config())


def test_an_interpreter_that_does_not_run_is_named() -> None:
    with pytest.raises(ValueError, match=r"sandbox\.python: /nowhere/python does not run"):
        find_sandbox(config(python="/nowhere/python"))


async def test_a_bubblewrap_that_vanishes_is_a_fault_of_the_sandbox(tmp_path: Path) -> None:
    found = find_sandbox(config())
    object.__setattr__(found._launch, "bwrap", str(tmp_path / "gone"))
    with pytest.raises(SandboxError, match="does not start"):
        await found.run("1")


def test_running_without_a_sandbox_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        find_sandbox(config(unsafe="run_without_sandbox"))
    assert len(caplog.records) == 1
    assert "without a sandbox" in caplog.text
