"""How rollouts end, and what the policy is told on the way."""

import asyncio

import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.rollout.stage import FakeTool, engine_of, make_episode, play, speaker

from toolorchestra.engine.base import Completion
from toolorchestra.engine.policies import call_text
from toolorchestra.reward.measures import tool_counts
from toolorchestra.rollout.loop import turn_seed

CALL, ANSWER = call_text("ask"), "answer: 4"
LONG_S = 500.0


async def test_a_message_without_calls_answers():
    rollout = await play(CALL, "answer: 4")
    assert (rollout.status, rollout.answer, rollout.fault) == ("answered", "answer: 4", "")
    assert len(rollout.turns) == 2


async def test_turns_are_bounded():
    rollout = await play(CALL, max_turns=3)
    assert (rollout.status, rollout.answer, len(rollout.turns)) == ("max_turns", None, 3)


async def test_a_turn_over_its_token_limit_is_truncated_and_runs_nothing():
    tool = FakeTool()
    rollout = await play(f"{CALL}\n{'word ' * 100}", tools=[tool], max_new_tokens=60)
    assert (rollout.status, rollout.answer) == ("truncated", None)
    assert tool.contexts == []
    assert len(rollout.turns[0].completion_ids) == 60
    assert rollout.turns[0].errors


async def test_a_truncated_answer_is_no_answer():
    assert (await play("answer: " + "4 " * 99, max_new_tokens=20)).answer is None


async def test_a_prompt_that_fills_the_context_leaves_no_room_for_a_turn():
    rollout = await play(ANSWER, max_context=20)
    assert (rollout.status, rollout.turns, rollout.rows) == ("context_full", (), ())


async def test_a_turn_cut_by_the_end_of_the_context_says_so():
    num_prompt = (await play(ANSWER)).turns[0].prompt_tokens
    rollout = await play("word " * 50, max_context=num_prompt + 10)
    assert rollout.status == "context_full"
    assert len(rollout.rows[0].ids) == num_prompt + 10


async def test_results_that_leave_no_room_end_the_rollout_and_stay_out_of_its_row():
    tool = FakeTool(content="word " * 3000)
    rollout = await play(CALL, ANSWER, tools=[tool], max_context=2000)
    assert (rollout.status, len(rollout.turns)) == ("context_full", 1)
    assert len(rollout.rows[0].ids) < 2000
    assert rollout.rows[0].loss_mask[-1] == 1
    assert rollout.turns[0].results[0].content == tool.content
    assert len(rollout.ledger) == 2  # the call was made: it is billed


async def test_a_provider_fault_voids_the_rollout_and_names_the_tool():
    tools = [FakeTool("down", status="provider_error", content="error: 503"), FakeTool()]
    rollout = await play(call_text("ask", "down"), ANSWER, tools=tools)
    assert (rollout.status, rollout.fault) == ("void", "down: error: 503")
    assert len(rollout.turns[0].results) == 2


async def test_a_hanging_tool_voids_the_rollout_at_the_tools_deadline():
    rollout = await play(CALL, tools=[FakeTool(pause_s=LONG_S)], tool_timeout_s=0.1)
    assert (rollout.status, rollout.fault) == ("void", "ask: error: no answer within 0.1 s")


async def test_a_rollout_beyond_its_deadline_is_void():
    tool = FakeTool(pause_s=LONG_S)
    limits = {"rollout_timeout_s": 0.5, "tool_timeout_s": LONG_S}
    rollout = await play(CALL, tools=[tool], **limits)
    assert (rollout.status, rollout.fault) == ("void", "not done within 0.5 s")
    assert tool.num_cancelled == 1
    assert tool.closed == ["episode-0/0"]


@pytest.mark.parametrize(
    "bad, said",
    [
        ('<tool_call>\n{"name": "ask", "arguments": {\n</tool_call>', "not run"),
        (call_text("nobody"), "there is no tool"),
        ('<tool_call>\n{"name": "ask"}\n</tool_call>', "'arguments' is missing"),
        ('<tool_call>\n{"name": "ask", "argum', "cut before it ended"),
        ("</tool_call>", "without <tool_call>"),
    ],
)
async def test_a_malformed_call_is_told_what_was_wrong_and_the_rollout_goes_on(bad, said):
    tool = FakeTool()
    rollout = await play(bad, CALL, ANSWER, tools=[tool])
    assert (rollout.status, len(rollout.turns)) == ("answered", 3)
    assert said in qwen_tokenizer().decode(rollout.rows[0].ids)
    assert len(tool.contexts) == 1
    assert [entry.name for entry in rollout.ledger if entry.cost_usd > 0] == [
        "policy",
        "policy",
        "ask",
        "policy",
    ]


async def test_a_good_call_beside_a_bad_one_runs_and_both_are_answered():
    rollout = await play(f"{CALL}\n<tool_call>\nnonsense\n</tool_call>", ANSWER)
    assert rollout.status == "answered"
    assert len(rollout.turns[0].results) == len(rollout.turns[0].errors) == 1
    assert qwen_tokenizer().decode(rollout.rows[0].ids).count("<tool_response>\n") == 2


async def test_all_calls_of_all_turns_run_once_under_ids_of_their_own():
    tools = [FakeTool("a"), FakeTool("b")]
    rollout = await play(call_text("a", "b", "a"), call_text("a", "b"), ANSWER, tools=tools)
    ids = [call.id for turn in rollout.turns for call in turn.calls]
    assert len(set(ids)) == len(ids) == 5
    assert [result.call_id for turn in rollout.turns for result in turn.results] == ids
    assert [context.call_number for context in tools[0].contexts] == [0, 1, 2]
    assert tool_counts(rollout, ["a", "b"]) == {"a": 3, "b": 2}


async def test_arguments_reach_the_tool_as_written():
    tool = FakeTool()
    call = '<tool_call>\n{"name": "ask", "arguments": {"question": "1 + ü?"}}\n</tool_call>'
    await play(call, ANSWER, tools=[tool])
    assert tool.arguments == [{"question": "1 + ü?"}]


async def test_a_bug_in_a_tool_is_raised_and_never_becomes_a_reward():
    tool = FakeTool(fault=KeyError("bug"))
    with pytest.raises(KeyError, match="bug"):
        await play(CALL, tools=[tool])
    assert tool.closed == ["episode-0/0"]


async def test_a_timeout_error_of_our_own_is_raised_and_voids_nothing():
    with pytest.raises(TimeoutError, match="mine"):
        await play(CALL, tools=[FakeTool(fault=TimeoutError("mine"))])


async def test_every_tool_of_the_episode_closes_the_session_however_the_rollout_ends():
    tools = [FakeTool("a"), FakeTool("b")]
    await play(ANSWER, tools=tools, sample=3)
    assert [tool.closed for tool in tools] == [["episode-0/3"]] * 2


async def test_a_cancelled_rollout_closes_its_sessions():
    tool = FakeTool(pause_s=LONG_S)
    rollout = asyncio.create_task(play(CALL, tools=[tool], tool_timeout_s=LONG_S))
    while not tool.num_running:
        await asyncio.sleep(0)
    rollout.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rollout
    assert (tool.closed, tool.num_cancelled) == (["episode-0/0"], 1)


class OddEngine:
    """Samples given ids, whatever they spell."""

    version = 0

    def __init__(self, *turns):
        self._turns = turns

    def rollout(self, session):
        return engine_of().rollout(session)

    async def generate(self, request):
        ids = self._turns[len(request.turns)]
        return Completion(ids=ids, logprobs=(-1.0,) * len(ids), finish_reason="stop", version=0)


async def test_ids_that_spell_no_text_are_kept_as_sampled():
    end = speaker().renderer.end_of_turn_id
    half = tuple(qwen_tokenizer().encode("é", add_special_tokens=False))[:1]  # half a letter
    beyond = len(qwen_tokenizer()) + 5  # an id that no token has
    rollout = await play(engine=OddEngine((*half, beyond, end)))
    assert rollout.status == "answered"
    assert rollout.turns[0].completion_ids == (*half, beyond, end)
    assert rollout.rows[0].ids[-3:] == (*half, beyond, end)
    assert "�" in rollout.turns[0].text


async def test_only_the_sampled_end_is_taken_off_the_text():
    end = speaker().renderer.end_of_turn_id
    spelt = qwen_tokenizer().encode("answer: x", add_special_tokens=False)
    rollout = await play(engine=OddEngine((*spelt, end, end)))
    assert rollout.turns[0].text == "answer: x<|im_end|>"


async def test_a_message_of_the_end_token_alone_is_an_empty_answer():
    rollout = await play(engine=OddEngine((speaker().renderer.end_of_turn_id,)))
    assert (rollout.status, rollout.answer) == ("answered", "")


async def test_a_turn_that_ended_without_its_end_token_gets_one_before_results():
    end = speaker().renderer.end_of_turn_id
    call = tuple(qwen_tokenizer().encode(CALL, add_special_tokens=False))
    answer = tuple(qwen_tokenizer().encode(ANSWER, add_special_tokens=False))
    open_row = (await play(engine=OddEngine(call, answer))).rows[0]
    closed_row = (await play(engine=OddEngine((*call, end), answer))).rows[0]
    assert open_row.ids == closed_row.ids
    assert sum(closed_row.loss_mask) - sum(open_row.loss_mask) == 1


def test_seeds_differ_by_episode_sample_and_turn_alone():
    one, other = make_episode(), make_episode(id="episode-1")
    seeds = {turn_seed(e, s, t) for e in (one, other) for s in range(3) for t in range(3)}
    assert len(seeds) == 18
    assert turn_seed(one, 1, 2) == turn_seed(make_episode("other", "tools"), 1, 2)
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert turn_seed(one, 0, 0) != turn_seed(make_episode(seed=1), 0, 0)


async def test_a_rollout_that_costs_more_than_it_may_ends_without_an_answer_and_is_billed():
    # each call of the tool costs 0.01 USD and something for the policy's tokens
    rollout = await play(CALL, CALL, CALL, CALL, ANSWER, max_cost_usd=0.025)
    assert (rollout.status, rollout.answer) == ("over_budget", None)
    assert len(rollout.turns) < 5
    spent_usd = sum(entry.cost_usd for entry in rollout.ledger)
    before_usd = spent_usd - sum(
        entry.cost_usd for entry in rollout.ledger if entry.turn == len(rollout.turns) - 1
    )
    assert before_usd <= 0.025 < spent_usd
    assert (await play(CALL, ANSWER, max_cost_usd=10.0)).status == "answered"
