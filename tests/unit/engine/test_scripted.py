from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import make_request

from toolorchestra.engine.policies import call_text
from toolorchestra.engine.scripted import ScriptedEngine

END = qwen_tokenizer().eos_token_id
TAG = qwen_tokenizer().convert_tokens_to_ids("<tool_call>")


async def write(policy, **changes):
    engine = ScriptedEngine(policy, qwen_tokenizer(), end_id=END)
    async with engine.rollout("a/0"):
        return await engine.generate(make_request([1], **({"max_tokens": 60} | changes)))


async def test_a_message_is_tokenised_ended_and_certain():
    completion = await write(lambda episode, turns, rng: call_text("ask"))
    assert completion.ids[0] == TAG
    assert completion.ids[-1] == END
    assert qwen_tokenizer().decode(completion.ids[:-1]) == call_text("ask")
    assert completion.logprobs == (0.0,) * len(completion.ids)
    assert (completion.finish_reason, completion.version) == ("stop", 0)


async def test_a_message_over_max_tokens_is_cut_as_a_models_is():
    whole = await write(lambda episode, turns, rng: "answer: 4")
    cut = await write(lambda episode, turns, rng: "answer: 4", max_tokens=3)
    assert (cut.ids, cut.finish_reason) == (whole.ids[:3], "length")
    fits = await write(lambda episode, turns, rng: "answer: 4", max_tokens=len(whole.ids))
    assert fits == whole


async def test_luck_depends_on_the_requests_seed_alone():
    def policy(episode, turns, rng):
        return f"answer: {rng.random()}"

    one, again, other = [await write(policy, seed=seed) for seed in (1, 1, 2)]
    assert one.ids == again.ids != other.ids
