import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest
from tests.unit.mcp.servers import PATIENCE_S, closing, is_alive, rogue, starts, until

from toolorchestra.mcp import stdio
from toolorchestra.mcp.connection import Connection


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(stdio, "GRACE_S", 0.3)


async def hired(connection):
    """Process ids of a server and of what it has started."""
    result = await connection.call("hire", {})
    return [int(word) for word in result.content[0].text.split()]


async def test_all_that_a_server_has_started_ends_with_it(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path))) as connection:
        pids = await hired(connection)
        assert all(map(is_alive, pids))
    await until(lambda: not any(map(is_alive, pids)))


async def test_a_server_that_does_not_heed_the_end_of_its_input_is_killed(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path, "stays"))) as connection:
        await connection.call("echo", {})
    await until(lambda: not is_alive(starts(tmp_path)[0]))


async def test_a_server_does_not_hear_what_a_cluster_sends_to_all_processes(tmp_path):
    async with closing(Connection("rogue", rogue(tmp_path))) as connection:
        await connection.call("echo", {})
        (pid,) = starts(tmp_path)
        for number in (signal.SIGTERM, signal.SIGUSR2):
            for process in (psutil.Process(pid), psutil.Process(pid).parent()):
                process.send_signal(number)
        assert (await connection.call("echo", {})).content[0].text == f"echo by {pid}"


@pytest.mark.parametrize("ignored", ["", "HUP"])  # as under nohup
def test_a_server_and_what_it_has_started_end_when_we_are_killed(ignored, tmp_path):
    code = """
        import asyncio, sys
        from tests.unit.mcp.servers import rogue
        from toolorchestra.mcp.connection import Connection
        from pathlib import Path

        async def main():
            connection = Connection("rogue", rogue(Path(sys.argv[1]), "stays"))
            print((await connection.call("hire", {})).content[0].text, flush=True)
            await asyncio.sleep(1000)

        asyncio.run(main())
    """
    ours = subprocess.Popen(
        ["sh", "-c", f"trap '' {ignored or 'USR1'}; exec \"$@\"", "sh"]
        + [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
    )
    with ours:
        assert ours.stdout is not None
        pids = [int(word) for word in ours.stdout.readline().split()]
        assert len(pids) == 2 and all(map(is_alive, pids))
        ours.kill()
    deadline = time.monotonic() + PATIENCE_S
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(is_alive, pids))


async def test_a_server_gets_the_variables_that_are_named_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setenv("ROGUE_KEY", "sesame-1234")
    monkeypatch.setenv("OTHER_KEY", "sesame-5678")
    async with closing(Connection("rogue", rogue(tmp_path, env=["ROGUE_KEY"]))) as connection:
        await connection.call("echo", {})
        given = psutil.Process(starts(tmp_path)[0]).environ()
    assert given["ROGUE_KEY"] == "sesame-1234" and given["PATH"] == os.environ["PATH"]
    assert "OTHER_KEY" not in given
