"""The client of one server: what it asks, what is an answer, and what is a fault."""

import asyncio
import time
from contextlib import asynccontextmanager

import pytest
from tests.unit.engine.tiny_model import make_request
from tests.unit.engine.vllm.faults import SPOILS
from tests.unit.engine.vllm.fleet import END_ID, RowPolicy, make_weights, until
from tests.unit.engine.vllm.stand_in import BODIES, GENERATE, StandInVllm

from toolorchestra.engine.base import EngineFault
from toolorchestra.engine.vllm.server import VllmServer, WeightsLost, WorkerDown
from toolorchestra.process import free_port

LOAD = ["POST /pause?mode=keep&clear_cache=false", "POST /collective_rpc"]
LOAD += ["POST /reset_prefix_cache?reset_running_requests=true"]
LOAD += ["POST /update_weight_version", "POST /resume"]


async def load(server, weights, *, timeout_s):
    async with server.replacing(weights.version, timeout_s=timeout_s):
        await server.read_weights(weights.folder, timeout_s=timeout_s)


@asynccontextmanager
async def serving(tmp_path, **options):
    """A stand-in that has version 1, and its client."""
    stand_in = StandInVllm(make_weights(tmp_path, 1).folder)
    stand_in.version = "1"
    await stand_in.start()
    server = VllmServer(stand_in.url, **({"timeout_s": 20.0} | options))
    try:
        yield stand_in, server
    finally:
        await server.close()
        await stand_in.stop()


def ask(server, **changes):
    fields = {"seed": 0, "max_tokens": 3} | changes
    return server.generate(make_request((3, 4), **fields), end_id=END_ID)


@pytest.mark.parametrize(
    "seed, ids, reason", [(0, (0, 1, 2), "length"), (5, (5, 6, 7), "stop"), (7, (7,), "stop")]
)
async def test_ids_log_probabilities_reason_and_version_come_through_as_sent(
    tmp_path, seed, ids, reason
):
    async with serving(tmp_path) as (_, server):
        got = await ask(server, seed=seed)
    assert (got.ids, got.finish_reason, got.version) == (ids, reason, 1)
    assert got.logprobs == pytest.approx([RowPolicy(1).logprob(token) for token in ids], abs=1e-6)


async def test_a_message_that_a_load_interrupted_has_the_version_of_its_oldest_token(tmp_path):
    newer = make_weights(tmp_path, 12)
    async with serving(tmp_path) as (stand_in, server):
        stand_in.version = "9"  # as text, "12" comes before "9"
        stand_in.hold(GENERATE)
        message = asyncio.create_task(ask(server))
        await until(lambda: stand_in.num_in_flight)
        await load(server, newer, timeout_s=5.0)
        stand_in.release(GENERATE)
        got = await message
    assert got.version == 9
    assert got.logprobs[2] == pytest.approx(RowPolicy(12).logprob(2), abs=1e-6)


async def test_it_asks_for_ids_of_the_whole_distribution_and_its_seed_fits_63_bits(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        await ask(server, seed=(1 << 64) - 3, temperature=0.7)
    assert stand_in.calls == [f"POST {GENERATE}"]
    assert stand_in.bodies == [
        {
            "token_ids": [3, 4],
            "sampling_params": {
                "temperature": 0.7,
                "top_p": 1.0,
                "top_k": 0,
                "min_p": 0.0,
                "repetition_penalty": 1.0,
                "max_tokens": 3,
                "seed": (1 << 63) - 3,
                "logprobs": 0,
                "stop_token_ids": [END_ID],
                "ignore_eos": True,
                "detokenize": False,
            },
        }
    ]


@pytest.mark.parametrize("how", SPOILS)
async def test_an_answer_that_is_none_is_a_fault_and_never_a_message(tmp_path, how):
    async with serving(tmp_path) as (stand_in, server):
        assert (await ask(server)).ids == (0, 1, 2)
        stand_in.faults[GENERATE] = SPOILS[how]
        with pytest.raises(EngineFault):
            await ask(server)


async def test_a_message_by_weights_that_nobody_loaded_is_no_message_but_another_fault(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.version = "default"
        with pytest.raises(WeightsLost, match="default"):
            await ask(server)


@pytest.mark.parametrize("how", BODIES)
async def test_what_is_no_json_object_is_a_fault_of_messages_and_of_scores(tmp_path, how):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.faults[GENERATE] = how
        with pytest.raises(EngineFault):
            await ask(server)
        with pytest.raises(EngineFault):
            await server.score([1, 2])


async def test_a_certain_token_may_be_rounded_to_just_above_0(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.faults[GENERATE] = lambda answer: answer["choices"][0]["logprobs"].update(
            content=[{"logprob": 1e-4, "rank": 1}] * 3
        )
        assert (await ask(server)).logprobs == (1e-4,) * 3


@pytest.mark.parametrize(
    "fault, kind, says",
    [
        ("500", WorkerDown, "answered 500: told to answer 500"),
        ("503", WorkerDown, "answered 503"),
        ("400", EngineFault, "answered 400: told to answer 400"),
        ("404", EngineFault, "answered 404"),
        ("cut", WorkerDown, "ServerDisconnected"),
        ("cut short", WorkerDown, "ClientPayloadError"),
        ("hang", EngineFault, "no answer within 0.2 s"),
    ],
)
async def test_a_broken_server_is_down_and_one_that_refuses_or_is_late_is_at_fault(
    tmp_path, fault, kind, says
):
    async with serving(tmp_path, timeout_s=0.2 if fault == "hang" else 20.0) as (stand_in, server):
        stand_in.faults[GENERATE] = fault
        with pytest.raises(kind, match=f"{stand_in.url}{GENERATE}.*{says}"):
            await ask(server)


async def test_where_nobody_listens_the_server_is_down():
    server = VllmServer(f"http://127.0.0.1:{free_port()}", timeout_s=5.0)
    with pytest.raises(WorkerDown, match="ClientConnectorError"):
        await ask(server)
    assert not await server.is_healthy()
    await server.close()


async def test_no_request_waits_for_others_to_be_answered(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.hold(GENERATE)
        messages = [asyncio.create_task(ask(server, seed=seed % 5)) for seed in range(120)]
        await until(lambda: stand_in.num_in_flight == 120)
        stand_in.release(GENERATE)
        for seed, message in enumerate(messages):
            assert (await message).ids[0] == seed % 5


async def test_a_load_pauses_reloads_empties_the_cache_names_the_version_and_resumes(tmp_path):
    newer = make_weights(tmp_path, 12)
    async with serving(tmp_path) as (stand_in, server):
        await load(server, newer, timeout_s=5.0)
        assert stand_in.calls == LOAD
        assert stand_in.bodies[1] == {
            "method": "reload_weights",
            "kwargs": {"weights_path": str(newer.folder)},
        }
        assert stand_in.bodies[3] == {"new_version": "12"}
        got = await ask(server)
    assert got.version == 12
    assert got.logprobs[0] == pytest.approx(RowPolicy(12).logprob(0), abs=1e-6)


@pytest.mark.parametrize(
    "route, fault, kind",
    [
        ("/collective_rpc", "500", EngineFault),
        ("/collective_rpc", "cut", WorkerDown),
        ("/collective_rpc", "400", EngineFault),
        ("/collective_rpc", "hang", EngineFault),
        ("/reset_prefix_cache", "kept", EngineFault),
        ("/reset_prefix_cache", "no JSON", EngineFault),
        ("/update_weight_version", "cut", WorkerDown),
    ],
)
async def test_a_load_that_fails_leaves_the_server_paused(tmp_path, route, fault, kind):
    newer = make_weights(tmp_path, 12)
    async with serving(tmp_path) as (stand_in, server):
        stand_in.faults[route] = fault
        with pytest.raises(kind):
            timeout_s = 0.2 if fault == "hang" else 20.0
            await load(server, newer, timeout_s=timeout_s)
        assert stand_in.is_paused
        failed = [call.partition("?")[0] for call in LOAD].index(f"POST {route}")
        orders = [call for call in stand_in.calls if call != "GET /health"]
        assert orders == LOAD[: failed + 1], "nothing is told after the failure"


async def test_scores_are_those_of_all_ids_but_the_first(tmp_path):
    async with serving(tmp_path) as (_, server):
        got = await server.score([5, 1, 7, 1])
    assert got == pytest.approx([RowPolicy(1).logprob(token) for token in (1, 7, 1)], abs=1e-6)


@pytest.mark.parametrize(
    "found",
    [
        None,
        [],
        [None, {"1": {"logprob": -1.0}}],
        [None, {"1": {"logprob": -1.0}}, {"3": {"logprob": -1.0}}],
        [None, {"1": {"logprob": -1.0}}, None],
        [None, {"1": {"logprob": -1.0}}, {"2": {"logprob": float("nan")}}],
    ],
)
async def test_scores_that_are_not_finite_numbers_one_an_id_are_a_fault(tmp_path, found):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.faults[GENERATE] = lambda answer: answer.update(prompt_logprobs=found)
        with pytest.raises(EngineFault, match="log-probabilities"):
            await server.score([0, 1, 2])


async def test_health_is_no_answer_but_200_in_time(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        assert await server.is_healthy()
        for fault in ("503", "404", "cut", "hang"):
            stand_in.faults["/health"] = fault
            start = time.monotonic()
            assert not await server.is_healthy(timeout_s=0.2), fault
            assert time.monotonic() - start < 2.0


async def test_release_and_context_are_the_servers_own(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.max_model_len = 123
        assert (await server.release(), await server.max_context()) == ("0.32.0", 123)
        stand_in.faults["/v1/models"] = "null"
        with pytest.raises(EngineFault, match="max_model_len"):
            await server.max_context()


async def test_counters_are_summed_over_their_labels(tmp_path):
    async with serving(tmp_path) as (_, server):
        await ask(server)
        assert await server.counters() == {
            "vllm:prompt_tokens_total": 2.5,
            "vllm:generation_tokens_total": 3.5,
        }


async def test_a_server_that_names_no_release_is_a_fault(tmp_path):
    async with serving(tmp_path) as (stand_in, server):
        stand_in.faults["/version"] = "null"
        with pytest.raises(EngineFault, match="names no version"):
            await server.release()
