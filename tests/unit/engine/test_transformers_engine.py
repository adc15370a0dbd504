"""What the engine samples: the very ids and log-probabilities of full forward passes."""

import asyncio
import random

import pytest
import torch
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import (
    MAX_LENGTH,
    expected,
    full_logits,
    make_engine,
    make_request,
)

END = qwen_tokenizer().eos_token_id


async def play(engine, session, prompt, added, **changes):
    """Turns of one rollout: after each, `added[turn]` follows what was sampled."""
    done = []
    async with engine.rollout(session):
        for turn, more in enumerate([*added, []]):
            request = make_request(prompt, session, seed=len(session) * 100 + turn, **changes)
            completion = await engine.generate(request)
            done.append((request, completion))
            prompt = [*prompt, *completion.ids, *more]
    return done


def random_ids(rng, low, high):
    return [rng.randrange(len(qwen_tokenizer())) for _ in range(rng.randint(low, high))]


async def play_many(engine, count, **changes):
    rng = random.Random(1)
    plays = [
        play(
            engine,
            f"session{'x' * number}",
            random_ids(rng, 3, 12),
            [random_ids(rng, 1, 9) for _ in range(rng.randint(1, 3))],
            **changes,
        )
        for number in range(count)
    ]
    return [turn for turns in await asyncio.gather(*plays) for turn in turns]


async def test_many_sessions_over_many_turns_equal_full_forward_passes():
    for request, completion in await play_many(make_engine(), 6):
        ids, logprobs = expected(request)
        assert list(completion.ids) == ids
        assert list(completion.logprobs) == pytest.approx(logprobs, abs=1e-4)


async def test_log_probabilities_equal_one_pass_over_the_whole_rollout():
    turns = await play(make_engine(), "a/0", [4, 5, 6], [[7, 8], [9]])
    request, completion = turns[-1]
    whole = [*request.prompt_ids, *completion.ids]
    logprobs = torch.log_softmax(full_logits(whole), -1)
    for request, completion in turns:
        for offset, (token, logprob) in enumerate(
            zip(completion.ids, completion.logprobs, strict=True)
        ):
            position = len(request.prompt_ids) + offset - 1
            assert float(logprobs[position, token]) == pytest.approx(logprob, abs=1e-4)


async def test_temperature_zero_is_greedy_whatever_the_seed():
    engine = make_engine()
    async with engine.rollout("a/0"):
        one = await engine.generate(make_request([5, 6, 7], temperature=0.0, seed=1))
    async with engine.rollout("a/1"):
        two = await engine.generate(make_request([5, 6, 7], "a/1", temperature=0.0, seed=2))
    assert one == two
    ids = [5, 6, 7]
    for token in one.ids:
        assert token == int(full_logits(ids)[-1].argmax())
        ids.append(token)


async def test_more_slots_than_rows_and_reused_slots_change_nothing():
    wide = await play_many(make_engine(num_slots=32), 6)
    narrow = await play_many(make_engine(num_slots=2), 6)
    assert [c.ids for _, c in wide] == [c.ids for _, c in narrow]
    for (_, one), (_, two) in zip(wide, narrow, strict=True):
        assert one.logprobs == pytest.approx(two.logprobs, abs=1e-4)


async def test_ids_do_not_depend_on_who_shares_the_batch():
    together = await play_many(make_engine(), 6)
    engine = make_engine()
    for request, completion in together:
        async with engine.rollout(request.session):
            assert (await engine.generate(request)).ids == completion.ids


async def test_a_message_that_reaches_max_tokens_is_cut_and_says_so():
    for request, completion in await play_many(make_engine(), 6, max_tokens=3):
        assert len(completion.ids) <= request.max_tokens
        assert END not in completion.ids[:-1]
        is_ended = completion.ids[-1] == END
        assert completion.finish_reason == ("stop" if is_ended else "length")
        assert len(completion.ids) == 3 or is_ended


async def test_the_end_token_ends_a_message():
    engine = make_engine(end_id=int(full_logits([5, 6, 7])[-1].argmax()))
    async with engine.rollout("a/0"):
        completion = await engine.generate(make_request([5, 6, 7], temperature=0.0))
    assert completion.ids == (engine._end_id,)
    assert completion.finish_reason == "stop"


async def test_a_request_may_fill_the_context_to_its_last_token_but_not_beyond():
    engine = make_engine(end_id=-1)
    prompt = [5] * (MAX_LENGTH - 4)
    async with engine.rollout("a/0"):
        completion = await engine.generate(make_request(prompt, max_tokens=4))
        assert (list(completion.ids), completion.finish_reason) == (
            expected(make_request(prompt, max_tokens=4))[0],
            "length",
        )
        with pytest.raises(ValueError, match="92 prompt tokens and 5 new ones exceed .* 96"):
            await engine.generate(make_request(prompt, max_tokens=5))


@pytest.mark.parametrize("changes", [{"prompt_ids": ()}, {"max_tokens": 0}])
async def test_an_empty_request_is_refused(changes):
    engine = make_engine()
    async with engine.rollout("a/0"):
        with pytest.raises(ValueError, match="use at least 1 of each"):
            await engine.generate(make_request(**({"prompt_ids": (1,)} | changes)))


async def test_a_shared_prompt_is_prefilled_once_and_a_prefix_never_again():
    engine = make_engine(end_id=-1)
    prompt = list(range(20))
    await asyncio.gather(*(play(engine, f"a/{i}", prompt, [[1, 2, 3]]) for i in range(4)))
    # one prompt of 20; then for each its last sampled token and the 3 that followed
    assert engine.num_prefilled == 20 + 4 * (1 + 3)
    assert engine.num_sampled == 4 * 2 * 6


async def test_sharing_a_prompt_gives_each_its_own_seed_and_memory():
    engine = make_engine()
    done = await asyncio.gather(
        *(play(engine, f"s{'x' * i}", [9, 8, 7, 6], [[i, 5]]) for i in range(5))
    )
    assert len({turns[0][1].ids for turns in done}) > 1
    for request, completion in (turn for turns in done for turn in turns):
        assert list(completion.ids) == expected(request)[0]


async def test_a_rewritten_history_is_computed_from_where_it_differs():
    engine = make_engine(end_id=-1)
    async with engine.rollout("a/0"):
        await engine.generate(make_request([1, 2, 3, 4, 5]))
        before = engine.num_prefilled
        request = make_request([1, 2, 9, 9])
        completion = await engine.generate(request)
    assert engine.num_prefilled - before == 2
    logprobs = torch.log_softmax(full_logits([*request.prompt_ids, *completion.ids]), -1)
    wanted = [float(logprobs[3 + i, token]) for i, token in enumerate(completion.ids)]
    assert list(completion.logprobs) == pytest.approx(wanted, abs=1e-4)


async def test_a_nearly_full_rollout_and_a_long_new_prompt_share_a_pass():
    engine = make_engine(end_id=-1, prefill_tokens=10_000)
    async with engine.rollout("old/0"), engine.rollout("new/0"):
        # the first one's padding would reach far beyond the context
        prompt = [5, 6] * (MAX_LENGTH // 2 - 5)
        long = make_request([7, 8, 9] * 20, "new/0", max_tokens=3)
        first, _ = await asyncio.gather(
            engine.generate(make_request(prompt, "old/0", max_tokens=3)), engine.generate(long)
        )
        last = make_request([*prompt, *first.ids, 4, 4], "old/0", max_tokens=3)
        other = make_request([3, 2, 1] * 20, "new/0", max_tokens=3)
        done = await asyncio.gather(engine.generate(last), engine.generate(other))
    for request, completion in zip((last, other), done, strict=True):
        ids, logprobs = expected(request)
        assert list(completion.ids)[: len(ids)] == ids
        assert list(completion.logprobs)[: len(ids)] == pytest.approx(logprobs, abs=1e-4)
