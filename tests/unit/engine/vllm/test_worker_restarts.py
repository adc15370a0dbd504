"""One worker whose server breaks: it is started anew, or awaited, until it breaks in vain."""

import asyncio
import os
import signal
from functools import partial

import pytest
from tests.unit.engine.vllm.fleet import (
    group_of,
    make_weights,
    real_process,
    sampled,
    until,
    working,
)
from tests.unit.engine.vllm.stand_in import GENERATE, StandInVllm

from toolorchestra.engine.vllm import worker as vllm_worker
from toolorchestra.engine.vllm.server import VllmServer

RELOAD = "POST /collective_rpc"


async def test_a_killed_server_is_started_anew_with_the_newest_weights(tmp_path):
    start = partial(real_process, log=tmp_path / "w.log")
    async with working(start) as (worker, _):
        await worker.take(make_weights(tmp_path, 0))
        await worker.take(make_weights(tmp_path, 1))
        killed = worker.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        await until(lambda: not worker.is_ready)
        assert (await sampled(worker)).version == 1
        assert worker.num_restarts == 1
        assert group_of(killed) == []
    assert group_of(worker.pid or 0) == []


async def test_weights_taken_while_it_starts_anew_are_loaded_before_it_is_ready(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.prepare = lambda server: server.hold("/v1/models")
        await fleet.kill()
        await until(lambda: len(fleet.started) == 2)
        await worker.take(make_weights(tmp_path, 1))
        assert not worker.is_ready
        assert worker.reads == make_weights(tmp_path, 0).folder, "it starts with these"
        fleet.server.release("/v1/models")
        assert (await sampled(worker)).version == 1
        assert fleet.server.calls.count(RELOAD) == 1


async def test_weights_taken_while_it_probes_older_ones_are_loaded_before_it_is_ready(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.prepare = lambda server: server.hold(GENERATE)
        await fleet.kill()
        await until(lambda: len(fleet.started) == 2)
        await until(lambda: fleet.server.calls[-1:] == [f"POST {GENERATE}"])
        await worker.take(make_weights(tmp_path, 1))
        fleet.server.release(GENERATE)
        assert (await sampled(worker)).version == 1


async def test_a_server_that_breaks_during_a_load_is_started_anew_once(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.server.hold("/collective_rpc")
        take = asyncio.create_task(worker.take(make_weights(tmp_path, 1)))
        await until(lambda: RELOAD in fleet.server.calls)
        await fleet.kill()
        await take
        assert (await sampled(worker)).version == 1
        await asyncio.sleep(0.05)  # a second start would have begun
        assert worker.is_ready
        assert len(fleet.started) == 2


async def test_a_server_that_is_down_is_not_asked_to_load(tmp_path):
    async with working(load_timeout_s=0.2) as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        hung = fleet.server
        hung.faults["/pause"] = "hang"
        worker.report_down("it does not answer")
        await worker.take(make_weights(tmp_path, 1))
        assert (await sampled(worker)).version == 1
        assert not any("/pause" in call for call in hung.calls)


async def test_what_the_last_server_left_unanswered_is_no_fault_of_the_next(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.prepare = lambda server: server.hold("/v1/models")
        await fleet.kill()
        await until(lambda: len(fleet.started) == 2)
        worker.report_down("of the first server")
        fleet.server.release("/v1/models")
        await worker.wait_ready()
        await asyncio.sleep(0.05)
        assert worker.is_ready
        assert len(fleet.started) == 2


async def test_vain_starts_end_with_one_sentence_and_a_sampled_message_begins_the_count_anew(
    tmp_path,
):
    async with working(max_restarts=2) as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        for _ in range(4):
            await fleet.kill()
            await until(lambda: not worker.is_ready)
            await sampled(worker)
            worker.report_sampled()
        fleet.prepare = lambda server: server.faults.update({"/v1/models": "500"})
        await fleet.kill()
        await until(lambda: not worker.is_ready)
        with pytest.raises(
            ValueError,
            match="^rollout.vllm: worker 0 broke 3 times in a row without sampling anything, "
            "last with: RuntimeError: made up$",
        ):
            await worker.wait_ready()
        assert len(fleet.started) == 1 + 4 + 2
        with pytest.raises(ValueError, match="broke 3 times"):
            await worker.take(make_weights(tmp_path, 1))
    assert all(process.has_ended for process in fleet.started)


async def test_only_a_server_that_does_not_answer_is_down_for_a_failed_request(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        assert not await worker.is_broken("a dropped connection")
        assert worker.is_ready
        fleet.server.faults["/health"] = "503"
        assert await worker.is_broken("the engine is dead")
        assert worker.is_down
        await worker.wait_ready()
        assert len(fleet.started) == 2


async def test_a_server_that_stops_answering_is_found_out_and_started_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(vllm_worker, "HEALTH_EVERY_S", 0.05)
    monkeypatch.setattr(vllm_worker, "HEALTH_TIMEOUT_S", 0.05)
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.server.faults["/health"] = "hang"
        await until(lambda: len(fleet.started) > 1)
        await worker.wait_ready()


async def test_a_server_at_a_url_gets_the_weights_whenever_it_comes_up_and_is_not_ended(tmp_path):
    server = StandInVllm(make_weights(tmp_path, 9).folder)
    await server.start()
    port = int(server.url.rpartition(":")[2])
    async with working(url=server.url) as (worker, _):
        await worker.take(make_weights(tmp_path, 0))
        assert (await sampled(worker)).version == 0
        await server.stop()
        assert await worker.is_broken("a dropped connection")
        await worker.take(make_weights(tmp_path, 1))
        assert not worker.is_ready
        server = StandInVllm(make_weights(tmp_path, 9).folder)
        await server.start(port)
        assert (await sampled(worker)).version == 1
        assert server.calls.count(RELOAD) == 1
    others = VllmServer(server.url, timeout_s=5.0)
    assert await others.is_healthy()
    await others.close()
    await server.stop()


async def test_weights_that_a_living_server_cannot_load_are_one_sentence_at_once(tmp_path):
    server = StandInVllm(make_weights(tmp_path, 9).folder)
    await server.start()
    server.faults["/collective_rpc"] = "500"
    async with working(url=server.url) as (worker, _):
        with pytest.raises(ValueError, match=f"{server.url} could not load .*answered 500: told"):
            await worker.take(make_weights(tmp_path, 0))
        assert server.is_paused, "it may not sample"
    await server.stop()


async def test_a_server_that_breaks_before_it_ever_was_ready_is_not_tried_again(tmp_path):
    server = StandInVllm(make_weights(tmp_path, 9).folder)
    await server.start()
    server.faults[GENERATE] = "500"
    async with working(url=server.url) as (worker, _):
        with pytest.raises(ValueError, match="broke before it sampled anything: .*answered 500"):
            await worker.take(make_weights(tmp_path, 0))
    await server.stop()


async def test_a_server_of_another_release_is_refused(tmp_path):
    server = StandInVllm(make_weights(tmp_path, 9).folder)
    server.release_name = "0.8.5"
    await server.start()
    async with working(url=server.url) as (worker, _):
        with pytest.raises(ValueError, match=r"is vLLM 0\.8\.5; use 0\.32\.0 or 0\.33\.0$"):
            await worker.take(make_weights(tmp_path, 0))
    await server.stop()


async def test_a_server_that_is_killed_while_it_starts_for_the_first_time_is_started_anew(tmp_path):
    processes = []

    def start(folder):
        slowly = {"STAND_IN_DELAY_S": "30"} if not processes else {}
        processes.append(real_process(folder, log=tmp_path / "w.log", env=slowly))
        return processes[-1]

    async with working(start) as (worker, _):
        take = asyncio.create_task(worker.take(make_weights(tmp_path, 4)))
        await until(lambda: processes)
        os.kill(processes[0].pid, signal.SIGKILL)
        await take
        assert (await sampled(worker)).version == 4
        assert len(processes) == 2
