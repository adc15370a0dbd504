"""One server kept up: on the list while it answers, and gone with its keeper, however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time

import aiohttp
import pytest
from tests.unit.endpoint.scene import (
    MODEL,
    STAND_IN,
    found,
    is_alive,
    keeper,
    pids_of,
    until,
    warden_of,
)

from toolorchestra.endpoint.keeper import Keeper
from toolorchestra.endpoint.keeper_options import KeeperOptions
from toolorchestra.endpoint.registry import Registry
from toolorchestra.process import shielding

BEAT_S = 0.2


@pytest.fixture
async def keeping(tmp_path):
    """`await keeping(patience_s=1.0)`: a keeper in this process, which is told to stop at the end.

    Returns a registry to look into, and the keeper's task.
    """
    stop, tasks = asyncio.Event(), []

    async def begin(**changes):
        options = {
            "service": MODEL,
            "registry": tmp_path / "servers",
            "command": (*STAND_IN, str(tmp_path)),
            "bind": "127.0.0.1",
            "beat_s": BEAT_S,
            "end_s": 0.5,
        }
        tasks.append(asyncio.create_task(Keeper(KeeperOptions(**options | changes), stop).keep()))
        return Registry(tmp_path / "servers"), tasks[0]

    yield begin
    stop.set()
    await asyncio.wait(tasks)
    assert not any(map(is_alive, pids_of(tmp_path)))
    assert list((tmp_path / "servers").iterdir()) == []


async def answers(endpoint):
    async with aiohttp.ClientSession() as http, http.get(endpoint.url + "/health") as answer:
        return answer.status == 200


async def test_a_server_is_found_once_it_answers_and_withdrawn_once_the_keeper_is_told_to_stop(
    tmp_path, keeping
):
    (tmp_path / "broken").touch()
    registry, _ = await keeping(host="127.0.0.1", bind="0.0.0.0")
    await until(registry.read)
    await asyncio.sleep(4 * BEAT_S)
    assert [item.is_ready for item in registry.read()] == [False], "it is listed as starting"
    (tmp_path / "broken").unlink()
    (endpoint,) = await found(registry)
    assert await answers(endpoint)
    await until(lambda: registry.find(MODEL)[0].num_beats > endpoint.num_beats + 2)


async def test_a_server_that_crashes_is_started_anew_and_registered_at_its_new_address(
    tmp_path, keeping
):
    registry, _ = await keeping()
    (before,) = await found(registry)
    os.kill(pids_of(tmp_path)[0], signal.SIGKILL)
    await found(registry, count=0)
    (after,) = await found(registry)
    assert before.id != after.id and before.url != after.url
    assert await answers(after)
    assert len(pids_of(tmp_path)) == 2


async def test_a_silent_server_may_be_busy_for_a_while_then_expires_then_is_started_anew(
    tmp_path, keeping
):
    registry, _ = await keeping(stall_s=0.3, patience_s=2.0)
    (before,) = await found(registry)
    silent = time.monotonic()
    (tmp_path / "silent").touch()
    await until(lambda: registry.read() == ())
    assert time.monotonic() - silent >= 0.3
    (tmp_path / "silent").unlink()
    (same,) = await found(registry)
    assert same.id == before.id, "it answered again"
    (tmp_path / "silent").touch()
    await until(lambda: len(pids_of(tmp_path)) == 2)
    (tmp_path / "silent").unlink()
    (after,) = await found(registry)
    assert after.id != before.id


async def test_a_server_that_keeps_dying_is_given_up_with_a_sentence(tmp_path, keeping):
    (tmp_path / "no_start").touch()
    _, task = await keeping(max_restarts=1, beat_s=0.1)
    with pytest.raises(
        ValueError, match=f"server of {MODEL} failed 2 times in a row; it last ended with status 3,"
    ):
        await task
    assert len(pids_of(tmp_path)) == 2


async def test_a_disk_that_is_full_for_a_moment_ends_no_server(tmp_path, keeping, caplog):
    registry, task = await keeping()
    (before,) = await found(registry)
    (tmp_path / "servers").rename(tmp_path / "away")
    await until(lambda: "cannot beat" in caplog.text)
    assert registry.find(MODEL) == []
    (tmp_path / "away").rename(tmp_path / "servers")
    (after,) = await found(registry)
    assert after.id == before.id and not task.done()


async def test_a_keeper_that_was_shielded_from_signals_hears_them_and_so_does_its_server(tmp_path):
    registry = Registry(tmp_path / "servers")
    with shielding(), keeper(tmp_path, options=("--end-s", "20")) as process:
        await found(registry)
        process.terminate()
        assert await asyncio.to_thread(process.wait, 10.0) == 0
        assert not any(map(is_alive, pids_of(tmp_path)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR2])
async def test_a_signal_withdraws_and_leaves_no_process(tmp_path, number):
    registry = Registry(tmp_path / "servers")
    with keeper(tmp_path, deaf=number == signal.SIGUSR2) as process:
        await found(registry)
        process.send_signal(number)
        status = await asyncio.to_thread(process.wait, 20.0)
        assert status == 0
        assert registry.read() == ()
        assert pids_of(tmp_path) and not any(map(is_alive, pids_of(tmp_path)))


async def test_a_keeper_that_is_killed_expires_and_even_a_deaf_server_dies_with_its_children(
    tmp_path,
):
    registry = Registry(tmp_path / "servers")
    with keeper(tmp_path, deaf=True) as process:
        (endpoint,) = await found(registry)
        os.killpg(process.pid, signal.SIGKILL)
        killed = time.monotonic()
        await found(registry, count=0)
        assert time.monotonic() - killed < 3 * BEAT_S + 0.5
        assert len(pids_of(tmp_path)) == 2
        await until(lambda: not any(map(is_alive, pids_of(tmp_path))))
        assert (registry.folder / f"{endpoint.id}.endpoint.json").exists(), "nobody withdrew it"


async def test_a_server_whose_warden_is_killed_with_its_keeper_hears_of_it_all_the_same(tmp_path):
    with keeper(tmp_path) as process:
        await found(Registry(tmp_path / "servers"))
        (server,) = pids_of(tmp_path)
        os.kill(warden_of(server), signal.SIGKILL)
        process.kill()
        await until(lambda: not is_alive(server))


def test_the_command_ends_with_one_sentence_where_it_cannot_begin(tmp_path):
    (tmp_path / "file").touch()

    def run(*arguments):
        command = [sys.executable, "-m", "toolorchestra.endpoint.keeper", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60.0)
        return done.returncode, done.stderr.splitlines()[-1]

    named = ("--service", MODEL, "--registry")
    assert run(*named, str(tmp_path / "file" / "x"), "--", "sleep", "{port}") == (
        1,
        f"error: [Errno 20] Not a directory: '{tmp_path / 'file' / 'x'}'",
    )
    status, told = run(*named, str(tmp_path), "--", "no-such-program", "{port}")
    assert status == 2
    assert told.endswith("error: an installed program must follow --; got no-such-program")
