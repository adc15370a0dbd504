"""What a rollout writes down: every token as sampled, every cost as billed."""

import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import make_engine
from tests.unit.rollout.stage import (
    POLICY_PRICE,
    PRICE,
    FakeTool,
    engine_of,
    make_episode,
    play,
    speaker,
)

from toolorchestra.chat.messages import episode_messages, tool_schemas
from toolorchestra.engine.policies import call_text
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.reward import measures

CALL, ANSWER = call_text("ask"), "answer: 4"


async def test_the_policy_pays_for_each_turn_its_prompt_partly_cached_and_its_output():
    rollout = await play(CALL, ANSWER)
    first, last = (entry.usage for entry in rollout.ledger if entry.kind == "policy")
    one, two = rollout.turns
    assert (first.input_tokens, first.cached_input_tokens) == (one.prompt_tokens, 0)
    assert (last.input_tokens, last.cached_input_tokens) == (two.prompt_tokens, one.prompt_tokens)
    assert last.output_tokens == len(two.completion_ids)
    # 1 dollar a million new input tokens, 0.1 cached, 4 output
    wanted = (
        (two.prompt_tokens - one.prompt_tokens)
        + 0.1 * one.prompt_tokens
        + 4 * len(two.completion_ids)
    ) / 1e6
    assert two.policy_cost_usd == pytest.approx(wanted)


async def test_the_last_turn_and_its_calls_are_billed():
    rollout = await play(call_text("ask", "ask"), max_turns=2)
    assert rollout.status == "max_turns"
    assert [(entry.name, entry.turn) for entry in rollout.ledger] == [
        ("policy", 0),
        ("ask", 0),
        ("ask", 0),
        ("policy", 1),
        ("ask", 1),
        ("ask", 1),
    ]


async def test_every_entry_names_what_is_charged():
    rollout = await play(CALL, ANSWER)
    assert [(entry.name, entry.priced_as) for entry in rollout.ledger] == [
        ("policy", ("policy",)),
        ("ask", ("model of ask",)),
        ("policy", ("policy",)),
    ]


@pytest.mark.parametrize(
    "texts, limits",
    [
        ((CALL, ANSWER), {}),
        ((call_text("ask", "ask", "nobody"), CALL, "answer: 5"), {}),
        ((CALL,), {"max_turns": 3}),
        ((CALL, "word " * 100), {"max_new_tokens": 60}),
    ],
)
async def test_the_cost_recomputed_from_the_ledger_is_the_cost_of_the_turns(texts, limits):
    rollout = await play(*texts, **limits)
    prices = {"policy": POLICY_PRICE, "tool": PRICE}
    for entry in rollout.ledger:
        assert entry.cost_usd == cost_usd(entry.usage, prices[entry.kind]) > 0
    of_turns = sum(
        turn.policy_cost_usd + sum(result.cost_usd for result in turn.results)
        for turn in rollout.turns
    )
    assert measures.cost_usd(rollout) == pytest.approx(of_turns)
    assert sum(e.latency_s for e in rollout.ledger) == pytest.approx(measures.latency_s(rollout))


async def test_a_refused_call_is_no_billed_event_so_repricing_never_bills_it():
    bad_arguments = call_text("ask").replace("{}", '{"question": 4}')
    rollout = await play(call_text("nobody"), bad_arguments, ANSWER)
    assert [len(turn.results) for turn in rollout.turns] == [1, 1, 0]
    assert [entry.name for entry in rollout.ledger] == ["policy"] * 3


async def test_what_a_void_rollout_spent_is_written_down():
    rollout = await play(CALL, tools=[FakeTool(status="provider_error", content="error: 503")])
    assert rollout.status == "void"
    assert len(rollout.ledger) == 2
    assert len(rollout.turns) == 1


def check_rows(rollout, *, max_context):
    """Token-in, token-out: the row is the prompt, then turns as sampled with what came between."""
    (row,) = rollout.rows
    assert len(row.ids) <= max_context
    sampled, position = [], 0
    for turn in rollout.turns:
        start, end = turn.prompt_tokens, turn.prompt_tokens + len(turn.completion_ids)
        assert row.loss_mask[position:start] == (0,) * (start - position)
        assert row.ids[start:end] == turn.completion_ids
        assert row.logprobs[start:end] == turn.logprobs
        assert row.versions[start:end] == (turn.version,) * (end - start)
        sampled += turn.completion_ids
        position = end
    assert sum(row.loss_mask) == len(sampled)
    assert set(row.loss_mask[position:]) <= {0}


async def test_the_row_begins_with_the_rendered_prompt():
    rollout = await play(CALL, ANSWER)
    episode = make_episode()
    prompt = speaker().renderer.prompt_ids(
        episode_messages(episode, "Solve the task."), tool_schemas(episode.tools, style="compact")
    )
    assert list(rollout.rows[0].ids[: len(prompt)]) == prompt
    check_rows(rollout, max_context=8000)


@pytest.mark.parametrize("sample", range(6))
async def test_rows_hold_what_a_real_engine_sampled(sample):
    engine = make_engine(max_length=600)
    rollout = await play(
        engine=engine, sample=sample, max_turns=4, max_new_tokens=12, max_context=600
    )
    assert rollout.status in ("answered", "truncated")
    check_rows(rollout, max_context=600)


class SteeredEngine:
    """A real engine whose messages begin with a given text, so that random weights call tools."""

    def __init__(self, engine, *texts):
        self._engine, self._scripted, self.version = engine, engine_of(*texts), 5
        self.asked = []

    def rollout(self, session):
        return self._engine.rollout(session)

    async def generate(self, request):
        await self._engine.generate(request)
        self.asked.append(request.prompt_ids)
        return await self._scripted.generate(request)


async def test_each_prompt_is_the_last_one_and_its_turn_and_their_results_id_by_id():
    engine = SteeredEngine(make_engine(max_length=2000, num_slots=1), CALL, call_text("no"), ANSWER)
    rollout = await play(engine=engine, max_new_tokens=60, max_context=2000)
    check_rows(rollout, max_context=2000)
    shown = qwen_tokenizer().decode(rollout.rows[0].ids)
    assert shown.count("<tool_response>\n") == 2
    for turn, (before, after) in enumerate(zip(engine.asked, engine.asked[1:], strict=False)):
        own = (*before, *rollout.turns[turn].completion_ids)
        assert after[: len(own)] == own
    # the real engine computed every prompt token once, and its own sampled ones besides
    assert engine._engine.num_prefilled <= len(engine.asked[-1])


async def test_the_turns_text_and_answer_are_what_was_written():
    rollout = await play(CALL, "answer: 4")
    assert [turn.text for turn in rollout.turns] == [CALL, "answer: 4"]
    assert rollout.rows[0].ids[-1] == speaker().renderer.end_of_turn_id
