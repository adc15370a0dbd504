"""Which replica a call goes to, and what becomes of calls to servers that are not there."""

from __future__ import annotations

import asyncio
import os
import threading
import time

import pytest
from aiohttp import ClientSession, ClientTimeout, SocketTimeoutError
from tests.unit.endpoint.scene import (
    LIFETIME_S,
    MODEL,
    POLL_S,
    ask,
    endpoints_of,
    found,
    is_alive,
    keeper,
    pids_of,
    replicas,
    until,
)

from toolorchestra.endpoint import client as client_module
from toolorchestra.endpoint.client import EndpointFault, EndpointLost, Endpoints, NoEndpoint
from toolorchestra.endpoint.registry import Registry

SLACK_S = 2.0
"""What a busy machine may add to any wait."""


async def test_calls_at_once_are_shared_evenly_among_replicas(tmp_path):
    async with replicas(tmp_path, count=2) as both:
        endpoints = endpoints_of(tmp_path)
        for replica in both:
            replica.may_answer.clear()
        calls = [asyncio.create_task(ask(endpoints)) for _ in range(10)]
        await until(lambda: sum(replica.num_calls for replica in both) == 10)
        assert [replica.num_calls for replica in both] == [5, 5]
        for replica in both:
            replica.may_answer.set()
        assert sorted(await asyncio.gather(*calls)) == ["0"] * 5 + ["1"] * 5


async def test_a_replica_that_is_slow_gets_fewer_calls(tmp_path):
    async with replicas(tmp_path, count=2) as (slow, fast):
        endpoints = endpoints_of(tmp_path)
        slow.may_answer.clear()
        stuck = [asyncio.create_task(ask(endpoints)) for _ in range(2)]
        await until(lambda: slow.num_calls == 1)
        assert [await ask(endpoints) for _ in range(5)] == ["1"] * 5
        slow.may_answer.set()
        await asyncio.gather(*stuck)


async def test_a_process_does_not_always_begin_with_the_same_replica(tmp_path):
    async with replicas(tmp_path, count=2):
        first = {await ask(endpoints_of(tmp_path)) for _ in range(20)}
        assert first == {"0", "1"}


async def test_a_call_to_a_machine_that_vanished_ends_soon_and_the_next_goes_elsewhere(tmp_path):
    async with replicas(tmp_path, count=2) as both:
        endpoints = endpoints_of(tmp_path)
        for replica in both:
            replica.may_answer.clear()
        call = asyncio.create_task(ask(endpoints))
        await until(lambda: any(replica.num_calls for replica in both))
        dead, other = sorted(both, key=lambda replica: -replica.num_calls)
        dead.stop_heart()
        began = time.monotonic()
        with pytest.raises(
            EndpointLost, match="Qwen3-32B at http://.* died during a call: .* 0.25"
        ):
            await call
        assert time.monotonic() - began < LIFETIME_S + 2 * POLL_S + SLACK_S
        other.may_answer.set()
        assert [await ask(endpoints) for _ in range(3)] == [str(other.number)] * 3


async def test_a_call_to_a_server_that_is_withdrawn_ends_at_once(tmp_path):
    async with replicas(tmp_path, count=1) as (replica,):
        replica.may_answer.clear()
        call = asyncio.create_task(ask(endpoints_of(tmp_path)))
        await until(lambda: replica.num_calls)
        replica.stop_heart()
        replica.registry.withdraw(replica.endpoint)
        with pytest.raises(EndpointLost):
            await asyncio.wait_for(call, SLACK_S)


async def test_a_server_that_is_killed_in_mid_call_is_a_fault_and_the_retry_goes_elsewhere(
    tmp_path,
):
    async with replicas(tmp_path / "servers", count=1) as (other,):
        with keeper(tmp_path):
            await found(Registry(tmp_path / "servers"), count=2)
            endpoints = endpoints_of(tmp_path / "servers")
            other.may_answer.clear()
            waiting = asyncio.create_task(ask(endpoints))
            async with ClientSession() as http:
                with pytest.raises(EndpointLost):
                    while True:  # the first call may have gone to either
                        async with endpoints.using(MODEL, deadline_s=10.0) as endpoint:
                            if endpoint.url == other.endpoint.url:
                                continue
                            (pid,) = pids_of(tmp_path)
                            asyncio.get_running_loop().call_later(0.1, os.kill, pid, 9)
                            await http.post(endpoint.url)
            await until(lambda: not is_alive(pid))  # its sockets are closed before it has ended
            other.may_answer.set()
            assert [await ask(endpoints), await waiting] == ["0", "0"]


async def test_a_refused_connection_is_a_fault_and_the_replica_is_passed_over_for_a_while(tmp_path):
    async with replicas(tmp_path, count=2) as (dead, _):
        await dead.server.close()  # and its heart beats on
        endpoints = endpoints_of(tmp_path, suspect_s=0.5)
        answers = []
        with pytest.raises(EndpointLost, match="Connect"):
            while True:
                answers.append(await ask(endpoints))
        failed_at = time.monotonic()
        assert await ask(endpoints) == "1"
        with pytest.raises(EndpointLost):
            while True:
                await ask(endpoints)
        assert time.monotonic() - failed_at >= 0.5, "it got another chance, but not before"


async def test_the_only_replica_gets_time_to_come_back_after_a_failure(tmp_path):
    async with replicas(tmp_path, count=1) as (replica,):
        endpoints = endpoints_of(tmp_path, suspect_s=0.3)
        endpoints.report_failure(await endpoints.pick(MODEL, deadline_s=1.0))
        with pytest.raises(NoEndpoint, match=r"\(http://127.0.0.1:\d+ failed a call\)"):
            await endpoints.pick(MODEL, deadline_s=0.0)
        assert (await endpoints.pick(MODEL, deadline_s=10.0)).id == replica.endpoint.id


async def test_what_is_slow_or_wrong_within_a_call_stays_what_it_is(tmp_path):
    async with replicas(tmp_path, count=1) as (replica,):
        before = asyncio.all_tasks()
        replica.may_answer.clear()
        endpoints = endpoints_of(tmp_path)
        with pytest.raises(SocketTimeoutError):
            async with endpoints.using(MODEL, deadline_s=1.0) as endpoint:
                timeout = ClientTimeout(sock_read=0.05)
                async with ClientSession(timeout=timeout) as http:
                    await http.get(endpoint.url)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await ask(endpoints)
        with pytest.raises(KeyError):
            async with endpoints.using(MODEL, deadline_s=1.0):
                raise KeyError("a bug")
        call = asyncio.create_task(ask(endpoints))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        replica.may_answer.set()
        assert await ask(endpoints) == "0", "none of it speaks against the server"
        assert not endpoints._in_flight
        await until(lambda: asyncio.all_tasks() <= before)


async def test_a_call_waits_for_a_server_that_comes_up(tmp_path):
    call = asyncio.create_task(ask(endpoints_of(tmp_path / "not_yet")))
    await asyncio.sleep(0.1)
    assert not call.done()
    async with replicas(tmp_path / "not_yet", count=1):
        assert await call == "0"


async def test_with_no_server_alive_the_fault_says_which_where_and_how_to_start_one(tmp_path):
    registry = Registry(tmp_path)
    registry.announce("retrieval", url="http://node8:1", lifetime_s=9.0)
    registry.announce(MODEL, url="http://node7:1", lifetime_s=9.0, is_ready=False)
    began = time.monotonic()
    with pytest.raises(NoEndpoint) as caught:
        await ask(endpoints_of(tmp_path), deadline_s=0.2)
    assert 0.2 <= time.monotonic() - began < 0.2 + SLACK_S
    assert str(caught.value) == (
        f"no server of Qwen/Qwen3-32B in {tmp_path} within 0.2 s (http://node7:1 is starting; "
        "there are servers of retrieval); start one with python -m toolorchestra.endpoint.keeper "
        f"--service Qwen/Qwen3-32B --registry {tmp_path} -- COMMAND --host {{host}} --port {{port}}"
    )
    assert isinstance(caught.value, EndpointFault)


async def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(NoEndpoint, match=r"within 0 s \(the folder does not exist\)"):
        await endpoints_of(tmp_path / "typo").pick(MODEL, deadline_s=0.0)


async def test_a_folder_that_may_not_be_read_is_said_to_be_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NoEndpoint, match=r"\(the folder cannot be read: Not a directory\)"):
        await endpoints_of(tmp_path / "file").pick(MODEL, deadline_s=0.0)


async def test_a_bug_while_reading_is_no_fault_of_a_provider(tmp_path, monkeypatch):
    monkeypatch.setattr(Registry, "read", lambda registry: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await endpoints_of(tmp_path).pick(MODEL, deadline_s=1.0)


class CountedRegistry(Registry):
    num_reads = 0

    def read(self):
        self.num_reads += 1
        return super().read()


async def test_a_crowd_reads_the_folder_no_more_often_than_one_call(tmp_path):
    async with replicas(tmp_path, count=1) as (replica,):
        replica.may_answer.clear()
        registry = CountedRegistry(tmp_path)
        endpoints = Endpoints(registry, poll_s=0.1)
        began = time.monotonic()
        calls = [asyncio.create_task(ask(endpoints)) for _ in range(50)]
        await asyncio.sleep(0.35)
        replica.may_answer.set()
        await asyncio.gather(*calls)
        assert 2 <= registry.num_reads <= 1 + (time.monotonic() - began) / 0.1


async def test_calls_one_after_the_other_share_a_list_that_is_young(tmp_path):
    async with replicas(tmp_path, count=1):
        registry = CountedRegistry(tmp_path)
        endpoints = Endpoints(registry, poll_s=60.0)
        assert [await ask(endpoints) for _ in range(5)] == ["0"] * 5
        assert registry.num_reads == 1


async def test_a_folder_that_hangs_ends_no_call_and_holds_up_no_deadline(tmp_path, monkeypatch):
    is_hanging = threading.Event()

    class Hanging(Registry):
        def read(self):
            if is_hanging.is_set():
                released.wait(20.0)
            return super().read()

    monkeypatch.setattr(client_module, "READ_S", 0.05)
    released = threading.Event()
    async with replicas(tmp_path, count=1) as (replica,):
        endpoints = Endpoints(Hanging(tmp_path), poll_s=POLL_S)
        assert await ask(endpoints) == "0"
        is_hanging.set()
        replica.may_answer.clear()
        call = asyncio.create_task(ask(endpoints))
        await asyncio.sleep(2 * LIFETIME_S)
        assert not call.done()
        with pytest.raises(NoEndpoint):
            await endpoints.pick("another", deadline_s=0.1)
        with pytest.raises(NoEndpoint, match="the folder does not answer"):
            await Endpoints(endpoints._registry, poll_s=POLL_S).pick(MODEL, deadline_s=0.1)
        replica.may_answer.set()
        assert await call == "0"
        released.set()
