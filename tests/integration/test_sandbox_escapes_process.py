"""Attempts to outlive the sandbox or to reach processes of the host; each must be contained."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator

import pytest
from tests.integration.sandbox_runs import host_processes, most_processes, run, until

pytestmark = pytest.mark.sandbox


@pytest.fixture
def token() -> str:
    return f"token-{uuid.uuid4().hex}"


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user on the host."""
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


async def test_a_daemon_left_behind_is_gone_after_the_run(token: str) -> None:
    code = f"""
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(64):
                try:
                    os.close(descriptor)
                except OSError:
                    pass
            sleep = "import time; time.sleep(600)"
            os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", sleep, {token!r}])
        os._exit(0)
    time.sleep(0.7)
    """
    running = asyncio.create_task(run(code))
    assert await most_processes(token, running) == 1  # It did live.
    assert (await running).status == "ok"
    assert host_processes(token) == []


async def test_a_program_dies_with_the_process_that_started_it(token: str) -> None:
    mark = str(193 << 20)
    starter = textwrap.dedent(
        """
        import asyncio
        from toolorchestra.sandbox.find import find_sandbox
        from toolorchestra.sandbox.config import SandboxConfig
        sandbox = find_sandbox(SandboxConfig(memory_mb=193, timeout_s=60))
        asyncio.run(sandbox.run("import os, time; os.fork(); time.sleep(60)"))
        """
    )
    paths = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    process = subprocess.Popen([sys.executable, "-c", starter], env=paths)
    await until(lambda: len(host_processes(mark)) >= 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    await until(lambda: host_processes(mark) == [])


async def test_signals_reach_no_process_of_the_host(bystander: subprocess.Popen[bytes]) -> None:
    result = await run(
        f"""
        import os, signal
        for pid in ({bystander.pid}, {os.getpid()}, os.getppid(), -1, 0):
            try:
                if pid != 0:
                    os.kill(pid, signal.SIGTERM)
                print("sent", pid)
            except OSError as error:
                print("refused", type(error).__name__)
        """
    )
    assert result.stdout.count("refused ProcessLookupError") >= 2
    assert bystander.poll() is None
    assert (await run("1 + 1")).stdout == "2\n"


async def test_killing_every_process_id_ends_only_the_program(
    bystander: subprocess.Popen[bytes],
) -> None:
    await run(
        """
        import os
        for pid in [*range(2, 40000), 1, -1]:
            try:
                if pid != os.getpid():
                    os.kill(pid, 9)
            except OSError:
                pass
        os.kill(os.getpid(), 9)
        """
    )
    assert bystander.poll() is None
    assert (await run("1 + 1")).stdout == "2\n"


async def test_processes_and_environments_of_the_host_are_invisible(
    token: str, bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", token)
    result = await run(
        """
        import glob, os
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
            try:
                print(open(path).read())
            except OSError:
                pass
        print(dict(os.environ), len(pids))
        """
    )
    assert result.status == "ok"
    assert token not in result.stdout
    assert "API_KEY" not in result.stdout
    assert int(result.stdout.split()[-1]) <= 2


async def test_every_namespace_is_another() -> None:
    kinds = ("net", "pid", "mnt", "ipc", "uts")
    result = await run(f"import os; [os.readlink('/proc/self/ns/' + k) for k in {kinds!r}]")
    inside = set(eval(result.stdout))
    outside = {os.readlink(f"/proc/self/ns/{kind}") for kind in kinds}
    assert len(inside) == len(kinds)
    assert not inside & outside
