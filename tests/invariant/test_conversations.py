"""With a user in it a rollout keeps what holds without one: tokens, ledger, and repeatability."""

import asyncio
import random
from dataclasses import replace

import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.chat.test_render import TRIMMING
from tests.unit.engine.tiny_model import make_engine
from tests.unit.judge.stand_in import PRICE, PlannedModel
from tests.unit.rollout.stage import LIMITS, POLICY_PRICE, engine_of, speaker
from tests.unit.user.scene import called, install, locker_episode, locker_tools
from tests.unit.user.test_llm import make_user, says

from toolorchestra.chat.history import history
from toolorchestra.chat.messages import episode_messages, tool_schemas
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.engine.base import Completion
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.reward.measures import measure
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.loop import run_rollout
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.domain import Environments
from toolorchestra.types import UserMessage, Verdict
from toolorchestra.user.protocol import Opening, UserReply
from toolorchestra.user.scripted import ScriptedUser

TOKENIZER = qwen_tokenizer()
MESSAGES = [
    "What does the slip say?",
    "<think>\nI wonder.\n</think>\n\nZürich\n\n?",
    called("get_locker", locker_id="L1"),
    f"<think>\nso\n</think>\n\n{called('get_locker', locker_id='L2')}",
    called("get_locker", locker_id="no such"),
    "<think>\nit is\nopen\n</think>\n\nPull the door.",
]
TEMPLATES = {"rewriting": builtin_template(), "keeping": TRIMMING}


@pytest.fixture(autouse=True)
def locker(monkeypatch):
    return install(monkeypatch)


def speaking(template, *, is_thinking=True):
    renderer = Renderer(TOKENIZER, template=TEMPLATES[template], is_thinking=is_thinking)
    return replace(speaker(), renderer=renderer)


class OddEngine:
    """Samples messages in an unusual cut, now letter by letter, and notes what it was shown."""

    version = 0

    def __init__(self, rng, messages):
        self._rng, self._messages = rng, messages
        self.requests, self.sampled = [], []

    def rollout(self, session):
        return engine_of().rollout(session)

    async def generate(self, request):
        self.requests.append(replace(request, turns=tuple(request.turns)))
        text = self._rng.choice(self._messages)
        pieces = text if self._rng.random() < 0.5 else [text]
        ids = [i for piece in pieces for i in TOKENIZER.encode(piece, add_special_tokens=False)]
        if self._rng.random() < 0.8:
            ids.append(speaker().renderer.end_of_turn_id)
        logprobs = tuple(-self._rng.random() for _ in ids)
        self.sampled += zip(ids, logprobs, strict=True)
        return Completion(ids=tuple(ids), logprobs=logprobs, finish_reason="stop", version=0)


class Chatty:
    """A user that says anything, a number of times."""

    def __init__(self, rng):
        self._rng = rng

    async def opened(self, episode):
        return Opening(episode=episode)

    async def reply(self, episode, turns, *, session):
        text = self._rng.choice(["And L2?", "<think>\nno\n</think>", "<|im_end|>", "1\n\n2 "])
        return UserReply(message=UserMessage(text=text, is_last=self._rng.random() < 0.1))


async def talked(seed, template, messages=MESSAGES):
    rng = random.Random(seed)
    engine = OddEngine(rng, messages)
    rollout = await run_rollout(
        locker_episode(),
        0,
        engine=engine,
        speaker=speaking(template),
        tools=locker_tools(Environments()),
        limits=replace(LIMITS, max_turns=8, max_context=20_000),
        user=Chatty(rng),
    )
    return rollout, engine


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("seed", range(12))
async def test_each_sampled_token_is_trained_once_as_it_was_sampled(seed, template):
    broken = [*MESSAGES, "<think>\nx\n</think>\n\n<tool_call>\n{\n</tool_call>", "</tool_call>"]
    rollout, engine = await talked(seed, template, broken)
    trained = [
        (token, logprob)
        for row in rollout.rows
        for token, mask, logprob in zip(row.ids, row.loss_mask, row.logprobs, strict=True)
        if mask
    ]
    assert trained == engine.sampled
    assert len(rollout.rows) == 1 or template == "rewriting"
    for request, turn in zip(engine.requests, rollout.turns, strict=True):
        assert turn.prompt_tokens == len(request.prompt_ids)


@pytest.mark.parametrize("seed", range(12))
async def test_every_prompt_reads_as_the_template_renders_the_conversation_so_far(seed):
    _, engine = await talked(seed, "rewriting")
    renderer = speaking("rewriting").renderer
    for request in engine.requests:
        schemas = tool_schemas(request.episode.tools, style=speaker().tool_style)
        messages = episode_messages(request.episode, speaker().system_prompt)
        messages += history(request.turns)
        assert TOKENIZER.decode(request.prompt_ids) == renderer.text(messages, schemas)


def test_the_seeds_above_meet_both_ways_to_go_on():
    counts = [len(asyncio.run(talked(seed, "rewriting"))[0].rows) for seed in range(12)]
    assert min(counts) == 1 and max(counts) >= 3


async def test_the_ledger_adds_up_with_a_users_bill_in_it():
    model = PlannedModel("broken", says("", {"name": "read_slip", "arguments": {}}), says("Hm."))
    rollout = await run_rollout(
        locker_episode(),
        0,
        engine=engine_of("Hello.", called("get_locker", locker_id="L1"), "Bye."),
        speaker=speaking("keeping"),
        tools=locker_tools(Environments()),
        limits=replace(LIMITS, max_turns=3),
        user=make_user(model),
    )
    prices = {"policy": POLICY_PRICE, "user": PRICE}
    free = locker_episode().tools[0].price
    for entry in rollout.ledger:
        assert entry.cost_usd == cost_usd(entry.usage, prices.get(entry.kind, free))
    assert [entry.kind for entry in rollout.ledger].count("user") == len(model.asked) == 4
    measures = measure(rollout, locker_episode(), Verdict(is_solved=True, decided_by="test"))
    own = [entry.cost_usd for entry in rollout.ledger if entry.kind == "policy"]
    assert measures.cost_usd == pytest.approx(sum(own))


class MusingEngine:
    """A random model muses freely; what it then says depends on every token of that."""

    def __init__(self):
        self._engine, self.version = make_engine(end_id=-1, max_length=2000, num_slots=12), 0

    def rollout(self, session):
        return self._engine.rollout(session)

    async def generate(self, request):
        mused = await self._engine.generate(replace(request, max_tokens=4))
        text = MESSAGES[sum(mused.ids) % len(MESSAGES)].rpartition("</think>")[2]
        ids = [*TOKENIZER.encode(text, add_special_tokens=False), speaker().renderer.end_of_turn_id]
        return replace(
            mused,
            ids=(*mused.ids, *ids),
            logprobs=(*mused.logprobs, *[0.0] * len(ids)),
            finish_reason="stop",
        )


def played():
    environments = Environments()
    stage = Stage(
        tools=locker_tools(environments),
        speaker=speaking("rewriting"),
        config=RolloutConfig(max_turns=5, max_concurrent=12),
        max_new_tokens=100,
        max_context=2000,
        user=ScriptedUser(environments, patience=2),
    )
    try:
        episodes = [replace(locker_episode(), id=f"episode-{i}", seed=i) for i in range(2)]
        groups = stage.play(MusingEngine(), episodes, group_size=4, is_greedy=False)
    finally:
        stage.close()
    rollouts = [replace(rollout, wall_s=0.0) for g in groups for rollout in g.rollouts]
    return rollouts, [verdict for g in groups for verdict in g.verdicts]


def test_the_same_seed_gives_the_same_conversations_bit_by_bit():
    first, second = played(), played()
    assert first == second
    spoken = [turn.user.text for r in first[0] for turn in r.turns if turn.user is not None]
    assert any("4711" in text for text in spoken) and any("not understand" in t for t in spoken)
    assert len({tuple(t.completion_ids for t in r.turns) for r in first[0]}) == len(first[0])
