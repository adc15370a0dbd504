"""One worker: what makes it ready, and what is refused with one sentence."""

import asyncio
from functools import partial

import pytest
from tests.unit.engine.vllm.fleet import (
    Fleet,
    RowPolicy,
    make_weights,
    real_process,
    sampled,
    until,
    working,
)
from tests.unit.engine.vllm.stand_in import GENERATE


async def test_it_starts_with_the_first_weights_names_their_version_and_probes_them(tmp_path):
    async with working() as (worker, fleet):
        assert fleet.started == []
        await worker.take(make_weights(tmp_path, 3))
        assert worker.is_ready
        assert fleet.server.model.endswith("version_000003")
        later = [call for call in fleet.server.calls if call != "GET /health"]
        assert later[:2] == ["GET /version", "GET /v1/models"]
        assert later[2:] == ["POST /update_weight_version", f"POST {GENERATE}"]
        assert (await sampled(worker)).version == 3
        assert worker.gap < 1e-6


async def test_newer_weights_are_loaded_and_probed_before_it_is_ready_again(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.server.hold("/resume")
        take = asyncio.create_task(worker.take(make_weights(tmp_path, 1)))
        await until(lambda: "POST /resume" in fleet.server.calls)
        assert not worker.is_ready
        fleet.server.release("/resume")
        fleet.server.hold(GENERATE)  # the probe
        await until(lambda: fleet.server.calls[-1] == f"POST {GENERATE}")
        assert not worker.is_ready
        fleet.server.release(GENERATE)
        await take
        assert worker.is_ready
        assert (await sampled(worker)).version == 1
        assert len(fleet.started) == 1


async def test_a_server_that_ends_while_it_starts_for_the_first_time_is_one_sentence(tmp_path):
    error = "Traceback (most recent call last):\nValueError: Available memory is less than asked"
    start = partial(real_process, log=tmp_path / "w.log", env={"STAND_IN_ERROR": error})
    async with working(start) as (worker, _):
        with pytest.raises(
            ValueError,
            match="^rollout.vllm: worker 0 ended while it started: "
            "ValueError: Available memory is less than asked$",
        ):
            await worker.take(make_weights(tmp_path, 0))


async def test_a_server_that_does_not_answer_in_time_is_one_sentence_and_is_ended(tmp_path):
    fleet = Fleet()
    fleet.prepare = lambda server: server.faults.update({"/health": "503"})
    async with working(fleet, start_timeout_s=0.05) as (worker, _):
        with pytest.raises(
            ValueError, match=r"worker 0 did not answer within 0.05 s \(rollout.vllm.start_timeout"
        ):
            await worker.take(make_weights(tmp_path, 0))
        assert fleet.started[0].has_ended


@pytest.mark.parametrize("route", ["/v1/models", "/update_weight_version"])
async def test_a_server_that_answers_nonsense_when_it_starts_is_one_sentence(tmp_path, route):
    fleet = Fleet()
    fleet.prepare = lambda server: server.faults.update({route: "404"})
    async with working(fleet) as (worker, _):
        with pytest.raises(ValueError, match=f"worker 0 cannot be used: .*{route} answered 404"):
            await worker.take(make_weights(tmp_path, 0))


async def test_a_server_of_too_short_a_context_is_refused(tmp_path):
    async with working(min_context=5000) as (worker, _):
        with pytest.raises(
            ValueError, match="holds 4096 tokens, fewer than model.max_context=5000; start it with"
        ):
            await worker.take(make_weights(tmp_path, 0))


async def test_weights_that_answer_otherwise_than_the_trainers_are_refused(tmp_path):
    async with working() as (worker, fleet):
        with pytest.raises(ValueError, match="worker 0 gives other log-probabilities than the tr"):
            await worker.take(make_weights(tmp_path, 0, RowPolicy(5)))
        assert not worker.is_ready


async def test_a_server_that_kept_its_old_weights_is_refused(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.server.faults["/collective_rpc"] = "kept"
        with pytest.raises(ValueError, match=r"same weights \(version 1\): they differ by 1\.\d"):
            await worker.take(make_weights(tmp_path, 1))
        assert not worker.is_ready


@pytest.mark.parametrize(
    "route, says",
    [
        ("/pause", "could not load the policy's weights: .*/pause.* answered 404"),
        (GENERATE, "failed the probe: .*answered 404"),
    ],
)
async def test_a_load_that_the_server_refuses_is_one_sentence(tmp_path, route, says):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.server.faults[route] = "404"
        with pytest.raises(ValueError, match=f"^rollout.vllm: worker 0 {says}"):
            await worker.take(make_weights(tmp_path, 1))


async def test_closing_ends_a_server_that_has_not_answered_yet(tmp_path):
    async with working() as (worker, fleet):
        fleet.prepare = lambda server: server.faults.update({"/health": "503"})
        take = asyncio.create_task(worker.take(make_weights(tmp_path, 0)))
        await until(lambda: fleet.started and fleet.server.calls)
        take.cancel()
    assert fleet.started[0].has_ended


async def test_a_worker_that_rests_sleeps_until_the_next_weights_are_in(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        await worker.rest()
        assert not worker.is_ready
        assert fleet.server.asleep == {"weights", "kv_cache"}
        before = len(fleet.server.calls)
        await worker.take(make_weights(tmp_path, 1))
        orders = [call.partition("&")[0] for call in fleet.server.calls[before:]]
        assert [call for call in orders if call != "GET /health"] == [
            "POST /pause?mode=keep",
            "POST /wake_up?tags=weights",
            "POST /collective_rpc",
            "POST /wake_up?tags=kv_cache",
            "POST /reset_prefix_cache?reset_running_requests=true",
            "POST /update_weight_version",
            "POST /resume",
            f"POST {GENERATE}",
        ]
        assert (await sampled(worker)).version == 1
        await worker.take(make_weights(tmp_path, 2))
        assert sum("wake_up" in call for call in fleet.server.calls) == 2, "it was awake"


async def test_a_worker_that_cannot_sleep_says_so(tmp_path):
    async with working() as (worker, fleet):
        await worker.take(make_weights(tmp_path, 0))
        fleet.server.faults["/sleep"] = "400"
        with pytest.raises(ValueError, match="^rollout.vllm: worker 0 cannot sleep: .*400"):
            await worker.rest()
