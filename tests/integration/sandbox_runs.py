"""What the escape tests share: running a program, and looking at the host meanwhile."""

from __future__ import annotations

import asyncio
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.result import SandboxResult


async def run(code: str, **options: Any) -> SandboxResult:
    """Run an indented program in the sandbox that this machine offers."""
    fields: dict[str, Any] = {"timeout_s": 5.0} | options
    sandbox = find_sandbox(SandboxConfig(**fields))
    try:
        return await sandbox.run(textwrap.dedent(code))
    finally:
        await sandbox.close()


def host_processes(mark: str) -> list[int]:
    """Processes on the host whose command line has the mark as an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in arguments:
            found.append(int(folder.name))
    return found


async def most_processes(mark: str, running: asyncio.Task[SandboxResult]) -> int:
    """The largest number of marked host processes seen while the program runs."""
    most = 0
    while not running.done():
        most = max(most, len(host_processes(mark)))
        await asyncio.sleep(0.02)
    return most


async def until(is_true: Callable[[], bool], limit_s: float = 10.0) -> None:
    """Wait for a condition; fail when it takes too long."""
    deadline = time.monotonic() + limit_s
    while not is_true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
