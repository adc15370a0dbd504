"""When the engine samples: who waits for whom, and what a fault or new weights do."""

import asyncio
import time

import pytest
import torch
from tests.unit.engine.tiny_model import (
    expected,
    fresh_model,
    make_engine,
    make_request,
    tiny_model,
)

LONG_S = 500.0


async def one_turn(engine, session, *, pause_s=0.0, **changes):
    async with engine.rollout(session):
        await asyncio.sleep(pause_s)
        return await engine.generate(make_request([5, 6, 7], session, **changes))


async def until(is_true):
    while not is_true():
        await asyncio.sleep(0)


def count_waves(engine, monkeypatch):
    """The sizes of the waves to come."""
    sizes = []
    decode = engine._decoder.decode

    def counted(rows, *, version):
        sizes.append(len(rows))
        decode(rows, version=version)

    monkeypatch.setattr(engine._decoder, "decode", counted)
    return sizes


async def test_all_who_start_together_share_a_wave(monkeypatch):
    engine = make_engine()
    sizes = count_waves(engine, monkeypatch)
    await asyncio.gather(*(one_turn(engine, f"a/{i}") for i in range(8)))
    assert sizes == [8]


async def test_a_wave_waits_for_rollouts_in_a_tool(monkeypatch):
    engine = make_engine()
    sizes = count_waves(engine, monkeypatch)
    await asyncio.gather(*(one_turn(engine, f"a/{i}", pause_s=0.02 * i) for i in range(4)))
    assert sizes == [4]


async def test_a_rollout_that_waits_for_a_slot_joins_the_next_wave(monkeypatch):
    engine = make_engine(num_slots=2)
    sizes = count_waves(engine, monkeypatch)
    await asyncio.gather(*(one_turn(engine, f"a/{i}") for i in range(6)))
    assert sizes == [2, 2, 2]


async def test_a_slow_tool_holds_others_for_batch_wait_s_at_most(monkeypatch):
    engine = make_engine(batch_wait_s=0.1)
    sizes = count_waves(engine, monkeypatch)
    slow = asyncio.create_task(one_turn(engine, "slow/0", pause_s=LONG_S))
    await until(lambda: engine._sessions)
    start_s = time.perf_counter()
    await asyncio.gather(*(one_turn(engine, f"a/{i}") for i in range(3)))
    assert 0.1 <= time.perf_counter() - start_s < LONG_S / 2
    assert sizes == [3]
    slow.cancel()


async def test_the_wait_begins_anew_with_every_wave(monkeypatch):
    engine = make_engine(batch_wait_s=0.1)
    sizes = count_waves(engine, monkeypatch)
    slow = asyncio.create_task(one_turn(engine, "slow/0", pause_s=LONG_S))
    await until(lambda: engine._sessions)
    for session in ("a/0", "a/1"):
        start_s = time.perf_counter()
        await one_turn(engine, session)
        assert time.perf_counter() - start_s >= 0.1
    assert sizes == [1, 1]
    slow.cancel()


async def test_a_cancelled_rollout_stalls_nobody_and_frees_its_slot(monkeypatch):
    engine = make_engine(num_slots=2)
    sizes = count_waves(engine, monkeypatch)
    in_tool = asyncio.create_task(one_turn(engine, "tool/0", pause_s=LONG_S))
    waiting = asyncio.create_task(one_turn(engine, "wait/0"))
    queued = asyncio.create_task(one_turn(engine, "next/0"))
    await until(lambda: engine._waiting)
    assert sizes == []
    in_tool.cancel()
    await asyncio.gather(waiting, queued)
    assert sizes == [2]
    assert not engine._sessions
    assert sorted(engine._free) == [0, 1]


async def test_a_rollout_cancelled_while_it_waits_is_not_sampled(monkeypatch):
    engine = make_engine()
    sizes = count_waves(engine, monkeypatch)
    tool = asyncio.create_task(one_turn(engine, "tool/0", pause_s=0.2))
    gone = asyncio.create_task(one_turn(engine, "gone/0"))
    await until(lambda: engine._waiting)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert engine._timer is None
    await tool
    assert sizes == [1]


async def test_rollouts_cancelled_while_they_queue_for_a_slot_lose_none():
    engine = make_engine(num_slots=1)
    async with engine.rollout("first/0"):
        queued = [asyncio.create_task(one_turn(engine, f"a/{i}")) for i in range(4)]
        await asyncio.sleep(0)
        queued[0].cancel()
        queued[2].cancel()
    await asyncio.sleep(0)
    queued[1].cancel()  # just as the slot was given to it
    await queued[3]
    assert (await one_turn(engine, "last/0")).ids


async def test_two_rollouts_of_one_name_are_refused():
    engine = make_engine(num_slots=2)
    async with engine.rollout("a/0"):
        with pytest.raises(ValueError, match="a/0 is in flight already"):
            await one_turn(engine, "a/0")
    assert (await one_turn(engine, "a/0")).ids
    assert sorted(engine._free) == [0, 1]


async def test_an_exception_in_the_model_reaches_every_waiting_rollout(monkeypatch):
    model = fresh_model()
    engine = make_engine(model)
    forward, is_broken = model.model.forward, True

    def fail(*args, **kwargs):
        if is_broken:
            raise RuntimeError("out of memory")
        return forward(*args, **kwargs)

    monkeypatch.setattr(model.model, "forward", fail)
    turns = [one_turn(engine, f"a/{i}") for i in range(3)]
    faults = await asyncio.gather(*turns, return_exceptions=True)
    assert [str(fault) for fault in faults] == ["out of memory"] * 3
    is_broken = False
    completion = await one_turn(engine, "a/0")
    assert list(completion.ids) == expected(make_request([5, 6, 7]))[0]


async def test_memory_stays_right_after_a_wave_failed_halfway(monkeypatch):
    model = fresh_model()
    engine = make_engine(model, end_id=-1)
    forward, fuse = model.model.forward, [0]

    def fail(*args, **kwargs):
        fuse[0] -= 1
        if fuse[0] == 0:
            raise RuntimeError("out of memory")
        return forward(*args, **kwargs)

    async with engine.rollout("a/0"):
        await engine.generate(make_request([1, 2, 3, 4, 5, 6, 7, 8]))
        monkeypatch.setattr(model.model, "forward", fail)
        fuse[0] = 3
        with pytest.raises(RuntimeError):
            await engine.generate(make_request([1, 2, 9, 9, 9]))
        request = make_request([1, 2, 3, 4, 5, 6, 7, 8, 9])
        completion = await engine.generate(request)
    ids, logprobs = expected(make_request(request.prompt_ids, max_tokens=len(completion.ids)))
    assert list(completion.ids)[: len(ids)] == ids
    assert list(completion.logprobs)[: len(ids)] == pytest.approx(logprobs, abs=1e-4)


def change_weights(model, other):
    with torch.no_grad():
        for weight, new in zip(model.parameters(), other.parameters(), strict=True):
            weight.copy_(new)


async def test_weights_changed_in_place_are_used_and_the_version_is_stamped():
    model = fresh_model()
    engine = make_engine(model)
    old = await one_turn(engine, "a/0")
    change_weights(model, tiny_model(1))
    await engine.load(model, 3)
    new = await one_turn(engine, "a/0")
    assert (old.version, new.version) == (0, 3)
    assert list(new.ids) == expected(make_request([5, 6, 7]), tiny_model(1))[0] != list(old.ids)


async def test_a_rollout_that_straddles_an_update_is_computed_anew_with_the_new_weights():
    model = fresh_model()
    engine = make_engine(model)
    async with engine.rollout("a/0"), engine.rollout("b/0"):
        requests = [make_request([5, 6, 7], "a/0"), make_request([8, 9, 1, 2], "b/0")]
        first = await asyncio.gather(*map(engine.generate, requests))
        change_weights(model, tiny_model(1))
        await engine.load(model, 1)
        before = engine.num_prefilled
        requests = [
            make_request([*request.prompt_ids, *completion.ids, 3], request.session, seed=11)
            for request, completion in zip(requests, first, strict=True)
        ]
        second = await asyncio.gather(*map(engine.generate, requests))
    assert engine.num_prefilled - before == sum(len(request.prompt_ids) for request in requests)
    for request, completion in zip(requests, second, strict=True):
        ids, logprobs = expected(request, tiny_model(1))
        assert completion.version == 1
        assert list(completion.ids) == ids
        assert list(completion.logprobs) == pytest.approx(logprobs, abs=1e-4)


async def test_damaged_weights_stop_the_run_instead_of_sampling_noise():
    model = fresh_model()
    engine = make_engine(model)
    with torch.no_grad():
        model.model.norm.weight[0] = float("nan")
    with pytest.raises(ValueError, match="weights are damaged"):
        await one_turn(engine, "a/0", temperature=0.0)


async def test_a_model_in_training_mode_samples_as_in_evaluation():
    model = fresh_model()
    model.train()
    assert (await one_turn(make_engine(model), "a/0")).ids
    assert not model.training


async def test_sampling_leaves_the_weights_trainable():
    model = fresh_model()
    await one_turn(make_engine(model), "a/0")
    model(torch.tensor([[1, 2, 3]]), labels=torch.tensor([[1, 2, 3]])).loss.backward()
    assert all(weight.grad is not None for weight in model.parameters())
