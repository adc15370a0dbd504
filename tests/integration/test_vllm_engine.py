"""The engine on a real vLLM: exact log-probabilities, weights, prefix cache, faults."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
import torch
from tests.integration.vllm_lab import BLOCK, MAX_CONTEXT, open_lab, policy, true_logprobs
from tests.unit.engine.tiny_model import make_request

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.worker import VllmWorker

pytestmark = pytest.mark.vllm

END_ID = 0
NUM_LOADS, NUM_TURNS = 20, 50
BOUND = 1e-4
SAMPLED = "vllm:generation_tokens_total"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with open_lab(tmp_path_factory.mktemp("vllm"), end_id=END_ID) as lab:
        lab.load(policy(0, is_tied=True), 0)
        yield lab


def requests(num, *, first=0, length=40, **changes):
    """Requests whose prompts differ."""
    options = {"max_tokens": 12} | changes
    return [
        make_request(
            [(7 * i + 11 * j) % 300 + 1 for j in range(length)], f"e{i}/0", seed=1000 + i, **options
        )
        for i in range(first, first + num)
    ]


def test_log_probabilities_are_the_trainers_on_a_thousand_turns_over_twenty_loads(lab):
    worst, num_turns, lengths = 0.0, 0, set()
    for load in range(NUM_LOADS):
        model = policy(load, is_tied=load % 2 == 0)
        lab.load(model, load)
        asked = requests(NUM_TURNS, first=load, length=20 + 7 * load)
        for request, completion in zip(asked, lab.sample(asked), strict=True):
            true = true_logprobs(model, request, completion.ids)
            gaps = [abs(a - b) for a, b in zip(completion.logprobs, true, strict=True)]
            worst, num_turns = max(worst, *gaps), num_turns + 1
            lengths.add(len(completion.ids))
            assert completion.version == load
    print(f"largest gap {worst:.2e} over {num_turns} turns")
    assert num_turns == 1000 and len(lengths) > 1
    assert worst < BOUND


def test_a_message_depends_on_its_seed_and_not_on_what_else_is_asked(lab):
    lab.load(policy(3, is_tied=True), 1)
    asked = requests(16)
    together = lab.sample(asked)
    assert [lab.sample([request])[0].ids for request in asked[:4]] == [
        completion.ids for completion in together[:4]
    ]
    other = lab.sample([make_request(asked[0].prompt_ids, "e0/1", seed=5, max_tokens=12)])
    assert other[0].ids != together[0].ids


def test_greedy_messages_are_the_likeliest_tokens(lab):
    model = policy(4, is_tied=False)
    lab.load(model, 2)
    (request,) = requests(1, temperature=0.0)
    (completion,) = lab.sample([request])
    ids = list(request.prompt_ids)
    with torch.inference_mode():
        for token in completion.ids:
            assert int(model(torch.tensor([ids])).logits[0, -1].argmax()) == token
            ids.append(token)


def test_a_message_ends_with_the_end_token_or_at_its_limit(lab):
    lab.load(policy(5, is_tied=True), 3)
    done = lab.sample(requests(64, max_tokens=60))
    assert {completion.finish_reason for completion in done} == {"stop", "length"}
    for completion in done:
        is_ended = completion.finish_reason == "stop"
        assert (completion.ids[-1] == END_ID) == is_ended
        assert is_ended or len(completion.ids) == 60


def test_a_rollouts_prefix_is_computed_once(lab):
    lab.load(policy(6, is_tied=True), 4)
    (request,) = requests(1, length=300)

    async def two_turns():
        async with lab.engine.rollout("e0/0"):
            first = await lab.engine.generate(request)
            longer = [*request.prompt_ids, *first.ids, *range(40, 60)]
            await lab.engine.generate(make_request(longer, "e0/0", max_tokens=4))

    before = lab.counter("prefix_cache_hits")
    lab.run(two_turns())
    assert lab.counter("prefix_cache_hits") - before == 300 // BLOCK * BLOCK


def test_nothing_that_older_weights_computed_is_used_after_a_load(lab):
    lab.load(policy(7, is_tied=True), 5)
    (request,) = requests(1, length=300)
    lab.sample([request])
    before = lab.counter("prefix_cache_hits")
    lab.load(policy(8, is_tied=True), 6)
    (completion,) = lab.sample([request])
    assert lab.counter("prefix_cache_hits") == before
    true = true_logprobs(policy(8, is_tied=True), request, completion.ids)
    assert completion.logprobs == pytest.approx(true, abs=BOUND)


def test_messages_in_flight_during_a_load_go_on_with_the_new_weights_and_say_the_older_version(lab):
    old, new = policy(9, is_tied=True), policy(10, is_tied=False)
    lab.load(old, 7)
    asked = requests(16, max_tokens=400)

    async def load_meanwhile():
        before = (await lab.worker.server.counters())[SAMPLED]
        pending = asyncio.ensure_future(lab.sampled(asked))
        while (await lab.worker.server.counters())[SAMPLED] - before < 2 * len(asked):
            assert not pending.done(), "too fast to be met in flight"
        await lab.engine.load(new, 8)
        return await pending

    mixed = 0
    for request, completion in zip(asked, lab.run(load_meanwhile()), strict=True):
        by_old = true_logprobs(old, request, completion.ids)
        by_new = true_logprobs(new, request, completion.ids)
        is_old = [abs(a - b) < BOUND for a, b in zip(completion.logprobs, by_old, strict=True)]
        is_new = [abs(a - b) < BOUND for a, b in zip(completion.logprobs, by_new, strict=True)]
        switch = is_old.index(False) if False in is_old else len(is_old)
        assert all(is_new[switch:]), "after the switch, all is as the new weights have it"
        assert completion.version == (7 if switch else 8)
        mixed += 0 < switch < len(is_old)
    assert mixed > 0, "no message straddled the load"


def test_a_killed_worker_comes_back_with_its_weights_and_no_message_is_lost(lab):
    model = policy(11, is_tied=True)
    lab.load(model, 9)
    asked = requests(32, max_tokens=200)
    victim = lab.worker.pid

    async def kill_meanwhile():
        before = (await lab.worker.server.counters())[SAMPLED]
        pending = asyncio.ensure_future(lab.sampled(asked))
        while (await lab.worker.server.counters())[SAMPLED] - before < len(asked):
            assert not pending.done(), "too fast to be met in flight"
        os.kill(victim, signal.SIGKILL)
        return await pending

    for request, completion in zip(asked, lab.run(kill_meanwhile()), strict=True):
        assert completion.version == 9
        true = true_logprobs(model, request, completion.ids)
        assert completion.logprobs == pytest.approx(true, abs=BOUND)
    assert lab.worker.pid != victim and lab.worker.num_restarts == 1


def test_weights_with_a_nan_are_refused_before_anything_is_sampled(lab):
    model = policy(12, is_tied=True)
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[0, 0] = float("nan")
    with pytest.raises(ValueError, match=r"^the policy's weights are damaged: version 10 gives"):
        lab.load(model, 10)
    lab.load(policy(12, is_tied=True), 11)
    assert lab.sample(requests(1))[0].version == 11


def visitor(lab, **changes):
    """A worker that others started, at the address of ours."""
    options = {"max_logprob_gap": 1e-3, "min_context": MAX_CONTEXT} | changes
    url = lab.worker.server.url
    return VllmWorker("http://guest", VllmConfig(urls=[url]), start=None, url=url, **options)


def taking(lab, worker, weights):
    async def take():
        try:
            await worker.take(weights)
        finally:
            await worker.close()

    return lab.run(take())


def test_a_server_with_too_short_a_context_is_refused(lab):
    worker = visitor(lab, min_context=MAX_CONTEXT + 1)
    with pytest.raises(ValueError, match="holds 640 tokens, fewer than model.max_context=641"):
        taking(lab, worker, lab.worker._weights)


def test_a_server_of_another_model_is_refused(lab, tmp_path):
    # Last in this file: what the server holds after it is anybody's guess.
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from toolorchestra.engine.vllm.probe import Weights
    from toolorchestra.engine.vllm.weights import logprobs_of
    from toolorchestra.model.weights import write_weights

    config = Qwen3Config(**(policy(0, is_tied=True).config.to_dict() | {"hidden_size": 32}))
    other = Qwen3ForCausalLM(config).eval()
    write_weights(other, tmp_path)
    ids = tuple(range(5, 37))
    weights = Weights(
        folder=tmp_path, version=99, probe_ids=ids, probe_logprobs=tuple(logprobs_of(other, ids))
    )
    with pytest.raises(ValueError, match="http://guest could not load the policy's weights"):
        taking(lab, visitor(lab), weights)
