"""Same config and seed, same rollouts: bit by bit, whatever the tools' real speed."""

import asyncio
import random
from dataclasses import replace

import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import make_engine
from tests.unit.rollout.stage import FakeTool, make_episode, speaker

from toolorchestra.engine.policies import call_text, final_text
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.player import Stage

NAMES = ("a", "b", "c")
EPISODES = [replace(make_episode(*NAMES), id=f"episode-{i}", seed=i) for i in range(3)]
GROUP_SIZE = 4


class MusingEngine:
    """A random model muses freely; the tool that it then calls depends on every token of that."""

    def __init__(self, **options):
        self._engine, self.version = make_engine(end_id=-1, max_length=900, **options), 0

    def rollout(self, session):
        return self._engine.rollout(session)

    async def generate(self, request):
        mused = await self._engine.generate(replace(request, max_tokens=5))
        pick = sum(mused.ids) % (len(NAMES) + 1)
        is_done = pick == len(NAMES) or len(request.turns) == 3
        text = final_text(str(mused.ids)) if is_done else call_text(NAMES[pick])
        ids = qwen_tokenizer().encode(text, add_special_tokens=False)
        ids.append(speaker().renderer.end_of_turn_id)
        return replace(
            mused,
            ids=(*mused.ids, *ids),
            logprobs=(*mused.logprobs, *[0.0] * len(ids)),
            finish_reason="stop",
        )


class MoodyTool(FakeTool):
    """Takes another real time with every call, without a seed."""

    def __init__(self, name, most_s):
        super().__init__(name)
        self._most_s = most_s

    async def call(self, arguments, context):
        await asyncio.sleep(random.SystemRandom().random() * self._most_s)
        return await super().call(arguments, context)


def run(*, most_s, batch_wait_s=1000.0, num_slots=12):
    stage = Stage(
        tools={name: MoodyTool(name, most_s) for name in NAMES},
        speaker=speaker(),
        config=RolloutConfig(max_turns=6, max_concurrent=num_slots),
        max_new_tokens=100,
        max_context=900,
    )
    engine = MusingEngine(num_slots=num_slots, batch_wait_s=batch_wait_s)
    groups = stage.play(engine, EPISODES, group_size=GROUP_SIZE, is_greedy=False)
    stage.close()
    return [replace(rollout, wall_s=0.0) for group in groups for rollout in group.rollouts]


def sampled(rollouts):
    return [[turn.completion_ids for turn in rollout.turns] for rollout in rollouts]


@pytest.fixture(scope="module")
def first():
    return run(most_s=0.02)


def test_the_rollouts_are_worth_comparing(first):
    assert {rollout.status for rollout in first} == {"answered"}
    assert {len(rollout.turns) for rollout in first} >= {1, 2, 4}
    assert len({tuple(ids) for ids in map(tuple, sampled(first))}) == len(first)


@pytest.mark.parametrize("most_s", [0.0, 0.001, 0.03])
def test_records_are_bit_equal_whatever_time_the_tools_take(first, most_s):
    assert run(most_s=most_s) == first


@pytest.mark.parametrize("num_slots", [1, 5, 40])
def test_ids_do_not_depend_on_how_many_play_at_once(first, num_slots):
    assert sampled(run(most_s=0.001, num_slots=num_slots)) == sampled(first)


def test_ids_do_not_depend_on_which_wave_a_rollout_catches(first):
    again = run(most_s=0.01, batch_wait_s=0.002)
    assert sampled(again) == sampled(first)
    for one, two in zip(first, again, strict=True):
        assert one.rows[0].logprobs == pytest.approx(two.rows[0].logprobs, abs=1e-4)
