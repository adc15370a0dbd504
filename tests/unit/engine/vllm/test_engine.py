"""Rollouts over workers: which worker each stays with, and what loads and breakages do to them."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from functools import partial

import pytest
import torch
from tests.unit.engine.tiny_model import make_request
from tests.unit.engine.vllm.fleet import (
    Fleet,
    RowPolicy,
    engine_of,
    group_of,
    real_process,
    until,
)
from tests.unit.engine.vllm.stand_in import GENERATE

from toolorchestra.engine.base import EngineFault
from toolorchestra.engine.vllm.server import VllmServer

RELOAD = "POST /collective_rpc"


def ask(engine, session="a/0", **changes):
    fields = {"seed": 0, "max_tokens": 2} | changes
    return engine.generate(make_request((1,), session, **fields))


async def ask_once(engine, session="a/0", **changes):
    async with engine.rollout(session):
        return await ask(engine, session, **changes)


def num_messages(fleet):
    """Without the probe of each load."""
    loads = 1 + fleet.server.calls.count(RELOAD)
    return fleet.server.calls.count(f"POST {GENERATE}") - loads


async def test_each_load_gives_every_worker_the_weights_and_says_what_it_found(tmp_path):
    fleets = Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets) as engine:
        for version in (0, 3):
            metrics = await engine.load(RowPolicy(version), version)
            assert engine.version == version
            assert metrics["engine/logprob_gap"] < 1e-6
            assert metrics["engine/num_restarts"] == 0
            assert metrics["time/load_s"] > 0
            for got in await asyncio.gather(*(ask_once(engine, f"{name}/0") for name in "ab")):
                assert (got.ids, got.version) == ((0, 1), version)
                expected = [RowPolicy(version).logprob(token) for token in (0, 1)]
                assert got.logprobs == pytest.approx(expected, abs=1e-6)
        assert [num_messages(fleet) for fleet in fleets] == [2, 2]
        assert [path.name for path in (tmp_path / "weights").iterdir()] == ["version_000003"]


async def test_weights_of_a_version_that_it_had_before_are_loaded_too(tmp_path):
    fleet = Fleet()
    async with engine_of(tmp_path, fleet) as engine:
        await engine.load(RowPolicy(1), 1)
        await engine.load(RowPolicy(2), 1)
        assert (await ask_once(engine)).logprobs[0] == pytest.approx(RowPolicy(2).logprob(0))


async def test_requests_wait_while_weights_load_and_get_no_older_ones_afterwards(tmp_path):
    fleet = Fleet()
    async with engine_of(tmp_path, fleet) as engine:
        await engine.load(RowPolicy(0), 0)
        fleet.server.hold("/collective_rpc")
        load = asyncio.create_task(engine.load(RowPolicy(1), 1))
        await until(lambda: RELOAD in fleet.server.calls)
        waiting = [asyncio.create_task(ask_once(engine, f"a/{number}")) for number in range(3)]
        await asyncio.sleep(0.02)
        assert fleet.server.calls[-1] == RELOAD, "nothing is asked of a worker that loads"
        fleet.server.release("/collective_rpc")
        await load
        late = [ask_once(engine, f"b/{number}") for number in range(3)]
        for got in await asyncio.gather(*waiting, *late):
            assert got.version == 1
            assert got.logprobs[0] == pytest.approx(RowPolicy(1).logprob(0), abs=1e-6)


async def test_killed_with_requests_in_flight_it_comes_back_with_the_newest_and_answers_them(
    tmp_path,
):
    async with engine_of(tmp_path, partial(real_process, log=tmp_path / "w.log")) as engine:
        await engine.load(RowPolicy(0), 0)
        await engine.load(RowPolicy(1), 1)
        (worker,) = engine.workers
        killed = worker.pid
        os.kill(killed, signal.SIGSTOP)
        asked = [asyncio.create_task(ask_once(engine, f"a/{number}")) for number in range(3)]
        await asyncio.sleep(0.05)
        os.kill(killed, signal.SIGKILL)
        for got in await asyncio.gather(*asked):
            assert got.version == 1
            assert got.logprobs[0] == pytest.approx(RowPolicy(1).logprob(0), abs=1e-6)
        assert (await engine.load(RowPolicy(2), 2))["engine/num_restarts"] == 1
        assert (tmp_path / "weights").is_dir()
    assert group_of(killed) == group_of(worker.pid) == []
    assert not (tmp_path / "weights").exists()


async def test_rollouts_of_an_episode_share_a_worker_and_episodes_spread_over_workers(tmp_path):
    fleets = Fleet(), Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets) as engine, AsyncExitStack() as rollouts:
        await engine.load(RowPolicy(0), 0)
        for episode, group_size in (("a", 4), ("b", 2), ("c", 2)):
            for number in range(group_size):
                session = f"{episode}/{number}"
                await rollouts.enter_async_context(engine.rollout(session))
                await ask(engine, session)
        assert [num_messages(fleet) for fleet in fleets] == [4, 2, 2]
        await rollouts.enter_async_context(engine.rollout("d/0"))
        await ask(engine, "d/0")
        assert [num_messages(fleet) for fleet in fleets] == [4, 3, 2], "one of the least busy"


async def test_rollouts_that_ended_leave_no_trace_on_where_others_go(tmp_path):
    fleets = Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets) as engine:
        await engine.load(RowPolicy(0), 0)
        for number in range(3):
            await ask_once(engine, f"a/{number}")
        async with engine.rollout("b/0"):
            await ask_once(engine, "a/9")
        assert [num_messages(fleet) for fleet in fleets] == [3, 1]


async def test_a_rollout_leaves_a_broken_worker_for_one_that_is_up_and_stays_there(tmp_path):
    fleets = Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets) as engine, engine.rollout("a/0"):
        await engine.load(RowPolicy(0), 0)
        await ask(engine)
        fleets[0].prepare = lambda server: server.hold("/v1/models")
        await fleets[0].kill()
        assert (await ask(engine)).version == 0
        assert num_messages(fleets[1]) == 1
        fleets[0].server.release("/v1/models")
        await engine.workers[0].wait_ready()
        await ask(engine)
        assert [num_messages(fleet) for fleet in fleets] == [0, 2]


async def test_a_rollout_stays_with_its_worker_over_a_load_that_another_ends_first(tmp_path):
    fleets = Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets) as engine, AsyncExitStack() as rollouts:
        await engine.load(RowPolicy(0), 0)
        await rollouts.enter_async_context(engine.rollout("a/0"))
        async with engine.rollout("b/0"):
            await rollouts.enter_async_context(engine.rollout("c/0"))
        await ask(engine)  # though the other worker has no rollout now
        fleets[0].server.hold("/collective_rpc")
        load = asyncio.create_task(engine.load(RowPolicy(1), 1))
        await until(lambda: RELOAD in fleets[0].server.calls and engine.workers[1].is_ready)
        asked = asyncio.create_task(ask(engine))
        await asyncio.sleep(0.02)
        fleets[0].server.release("/collective_rpc")
        assert (await asked).version == 1
        await load
        assert [num_messages(fleet) for fleet in fleets] == [2, 0]


async def test_a_worker_that_is_down_delays_no_load_and_keeps_the_folder_that_it_reads(tmp_path):
    fleets = Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets) as engine:
        await engine.load(RowPolicy(0), 0)
        fleets[0].prepare = lambda server: server.hold("/v1/models")
        await fleets[0].kill()
        await until(lambda: len(fleets[0].started) == 2)
        for version in (1, 2):
            await engine.load(RowPolicy(version), version)
            names = {path.name for path in (tmp_path / "weights").iterdir()}
            assert names == {"version_000000", f"version_{version:06d}"}
        fleets[0].server.release("/v1/models")
        await engine.workers[0].wait_ready()
        assert fleets[0].server.model.endswith("version_000002")
        await engine.load(RowPolicy(3), 3)
        assert [path.name for path in (tmp_path / "weights").iterdir()] == ["version_000003"]


async def test_a_name_is_refused_while_a_rollout_has_it_and_free_afterwards(tmp_path):
    async with engine_of(tmp_path, Fleet()) as engine:
        await engine.load(RowPolicy(0), 0)
        async with engine.rollout("a/0"):
            with pytest.raises(ValueError, match="a/0 is in flight already"):
                async with engine.rollout("a/0"):
                    pass
            await ask(engine)
        await ask_once(engine)


async def test_an_answer_that_is_none_voids_the_rollout_and_the_worker_goes_on(tmp_path):
    fleet = Fleet()
    async with engine_of(tmp_path, fleet) as engine:
        await engine.load(RowPolicy(0), 0)
        fleet.server.faults[GENERATE] = "400"
        with pytest.raises(EngineFault, match="answered 400"):
            await ask_once(engine)
        del fleet.server.faults[GENERATE]
        await ask_once(engine)
        assert len(fleet.started) == 1


async def test_only_when_its_worker_breaks_in_vain_a_request_ends_with_the_sentence(tmp_path):
    fleet = Fleet()
    async with engine_of(tmp_path, fleet, max_restarts=1) as engine:
        await engine.load(RowPolicy(0), 0)
        for _ in range(3):  # none of them in vain
            await fleet.kill()
            await ask_once(engine)
        fleet.prepare = lambda server: server.faults.update({"/v1/models": "500"})
        await fleet.kill()
        with pytest.raises(ValueError, match="^rollout.vllm: worker 0 broke 2 times in a row"):
            await ask_once(engine)


async def test_a_worker_that_cannot_start_ends_the_load_and_the_others_are_ended(tmp_path):
    fleet = Fleet()
    fleet.prepare = lambda server: server.hold("/v1/models")
    env = {"STAND_IN_ERROR": "ValueError: no room"}
    broken = partial(real_process, log=tmp_path / "w.log", env=env)
    async with engine_of(tmp_path, fleet, broken) as engine:
        with pytest.raises(ValueError, match="ended while it started: ValueError: no room"):
            await engine.load(RowPolicy(0), 0)
        url = fleet.server.url
    server = VllmServer(url, timeout_s=5.0)
    assert not await server.is_healthy()
    await server.close()
    assert not (tmp_path / "weights").exists()


async def test_a_message_that_a_living_worker_fails_again_and_again_is_the_engines_fault(tmp_path):
    fleet = Fleet()
    async with engine_of(tmp_path, fleet) as engine:
        await engine.load(RowPolicy(0), 0)
        fleet.server.faults[GENERATE] = "500"
        with pytest.raises(EngineFault, match="^failed 5 times, last with: .*answered 500"):
            await ask_once(engine, "e/0")
        assert len(fleet.started) == 1, "and the worker lives on"
        fleet.server.faults.clear()
        assert (await ask_once(engine, "e/0")).version == 0


async def test_a_server_restarted_by_others_gets_the_weights_before_it_samples(
    tmp_path,
):
    fleet = Fleet()
    async with engine_of(tmp_path, fleet) as engine:
        await engine.load(RowPolicy(2), 2)
        fleet.server.version = "default"
        assert (await ask_once(engine, "e/0")).version == 2


async def test_damaged_weights_are_refused_before_any_worker_sees_them(tmp_path):
    policy = RowPolicy(0)
    with torch.no_grad():
        policy.row[2] = float("nan")
    fleet = Fleet()
    async with engine_of(tmp_path, fleet) as engine:
        with pytest.raises(ValueError, match="^the policy's weights are damaged: version 4 gives"):
            await engine.load(policy, 4)
        assert fleet.started == []


@pytest.mark.parametrize("sleeps", [False, True])
async def test_workers_sleep_while_the_weights_change_if_they_are_to(tmp_path, sleeps):
    fleets = Fleet(), Fleet()
    async with engine_of(tmp_path, *fleets, sleeps=sleeps) as engine:
        await engine.load(RowPolicy(0), 0)
        await engine.rest()
        assert [bool(fleet.server.asleep) for fleet in fleets] == [sleeps, sleeps]
        assert engine.is_resting == sleeps
        await engine.load(RowPolicy(1), 1)
        assert not engine.is_resting
        assert (await ask_once(engine)).version == 1
        await engine.rest()
        await engine.load(RowPolicy(1), 1)  # after a step that updated nothing
        assert (await ask_once(engine)).version == 1


async def test_a_worker_that_breaks_again_and_again_does_not_end_a_run_that_gets_on(tmp_path):
    steady, frail = Fleet(), Fleet()
    async with engine_of(tmp_path, steady, frail, max_restarts=1) as engine:
        await engine.load(RowPolicy(0), 0)
        for number in range(4):
            await frail.kill()
            await until(lambda number=number: len(frail.started) == number + 2)
            await ask_once(engine)
        assert engine.workers[1].num_restarts == 4
        await engine.workers[1].wait_ready()
