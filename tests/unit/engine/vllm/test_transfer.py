"""Weights sent from GPU to GPU: when, to whom, and what the workers then have."""

import asyncio
import json
import urllib.request

import pytest
from tests.unit.engine.tiny_model import tiny_model
from tests.unit.engine.vllm.fleet import (
    Fleet,
    RowPolicy,
    engine_of,
    until,
)
from tests.unit.engine.vllm.stand_in import ROW
from tests.unit.engine.vllm.test_engine import RELOAD, ask_once

from toolorchestra.engine.vllm.transfer import GpuTransfer, Source
from toolorchestra.engine.vllm.weights import WeightFolders


class Senders:
    """Stand for vLLM's: what a source holds goes to the server by way of a folder."""

    def __init__(self, root):
        self.root, self.made, self.num_sent, self.fault = root, [], 0, None

    def __call__(self, url, source):
        self.made.append(url)
        return lambda: self._send(url, source)

    def _send(self, url, source):
        if self.fault:
            raise self.fault
        self.num_sent += 1
        policy = RowPolicy(0)
        policy.row.data = dict(source)[ROW].clone()
        folder = WeightFolders(self.root).write(policy, self.num_sent)
        order = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        request = urllib.request.Request(
            f"{url}/collective_rpc",
            json.dumps(order).encode(),
            {"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=10.0).close()


def sending(tmp_path, *fleets):
    senders = Senders(tmp_path / "sent")
    return senders, engine_of(tmp_path, *fleets, transfer=GpuTransfer(senders))


async def test_newer_weights_are_sent_to_every_worker_and_written_down_only_once(tmp_path):
    fleets = Fleet(), Fleet()
    senders, engine = sending(tmp_path, *fleets)
    async with engine as engine:
        for version in (0, 1, 2):
            await engine.load(RowPolicy(version), version)
            got = await ask_once(engine)
            assert got.version == version
            expected = [RowPolicy(version).logprob(token) for token in got.ids]
            assert got.logprobs == pytest.approx(expected, abs=1e-6)
            await engine.rest()
        assert [p.name for p in (tmp_path / "weights").iterdir()] == ["version_000000"]
        assert len(senders.made) == 2, "a sender serves its server for as long as that lives"
        assert [fleet.server.calls.count(RELOAD) for fleet in fleets] == [3, 3]


async def test_a_worker_that_breaks_while_the_weights_change_waits_for_the_new_ones(tmp_path):
    fleet = Fleet()
    senders, engine = sending(tmp_path, fleet)
    async with engine as engine:
        await engine.load(RowPolicy(0), 0)
        await engine.rest()
        await fleet.kill()
        await until(lambda: len(fleet.started) == 2 and fleet.server.is_paused)
        await asyncio.sleep(0.05)
        assert senders.num_sent == 1, "half of an update must never be sent"
        await engine.load(RowPolicy(1), 1)
        assert (await ask_once(engine)).version == 1
        assert len(senders.made) == 2


async def test_a_worker_that_breaks_while_they_stay_gets_them_at_once(tmp_path):
    fleet = Fleet()
    senders, engine = sending(tmp_path, fleet)
    async with engine as engine:
        await engine.load(RowPolicy(0), 0)
        await engine.rest()
        await engine.load(RowPolicy(1), 1)
        await fleet.kill()
        assert (await ask_once(engine)).version == 1
        assert len(fleet.started) == 2


async def test_a_transfer_that_fails_is_one_sentence(tmp_path):
    fleet = Fleet()
    senders, engine = sending(tmp_path, fleet)
    async with engine as engine:
        await engine.load(RowPolicy(0), 0)
        senders.fault = RuntimeError("NCCL error: unhandled system error")
        with pytest.raises(ValueError, match="worker 0 could not load .*NCCL error: unhandled"):
            await engine.load(RowPolicy(1), 1)


def test_a_tied_output_layer_is_sent_under_its_own_name():
    sent = dict(Source(tiny_model()))
    assert sent["lm_head.weight"].data_ptr() == sent["model.embed_tokens.weight"].data_ptr()
    assert sent.keys() == {*tiny_model().state_dict(), "lm_head.weight"}
