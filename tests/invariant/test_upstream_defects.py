"""Each defect found in the original ToolOrchestra code, as a test that it is absent here."""

from __future__ import annotations

import pytest
import torch
from tests.invariant.records import (
    FAILED,
    SOLVED,
    entry,
    episode,
    measures,
    preference,
    result,
    rollout,
    spender,
    tool,
    turn,
)

from toolorchestra.algorithm.advantages import advantages
from toolorchestra.algorithm.filters import filter_group
from toolorchestra.reward.combine import paper_terms
from toolorchestra.reward.evaluate import relative_reward, relative_score
from toolorchestra.reward.gdpo import gdpo_terms
from toolorchestra.reward.group import score_group
from toolorchestra.reward.measures import measure
from toolorchestra.types import Rollout, Verdict


def rewards_of(rollouts: list[Rollout], wanted, verdicts: list[Verdict] | None = None, tools=()):
    group = score_group(
        episode(*tools),
        rollouts,
        verdicts or [SOLVED] * len(rollouts),
        rule="paper",
        preference=wanted,
    )
    return [score.reward for score in group.scores]


@pytest.mark.parametrize("rule", [paper_terms, gdpo_terms])
def test_the_reward_never_rises_with_cost_or_latency(rule):
    for wanted, dear in (
        (preference(1.0, cost=1.0), measures(1.0, cost_usd=2.0)),
        (preference(1.0, latency=1.0), measures(1.0, latency_s=2.0)),
    ):
        cheap_terms, dear_terms = rule([measures(1.0), dear], wanted)
        assert sum(cheap_terms.values()) > sum(dear_terms.values())


def test_costs_that_are_close_give_bounded_rewards():
    # The original gives 59 and 60 for costs .95 and 1 at p = 1.
    assert rewards_of([spender(0.95, sample=0), spender(1.0, sample=1)], preference(cost=1.0)) == [
        1.0,
        0.0,
    ]


def test_cost_and_latency_count_once_and_are_no_tools():
    # The original adds them a second time, as tools that were called 0 times.
    group = [measures(1.0, cost_usd=1.0, latency_s=5.0), measures(0.0, cost_usd=2.0, latency_s=9.0)]
    best = paper_terms(group, preference(1.0, 0.5, 0.25))[0]
    assert best == {"outcome": 1.0, "cost": 0.5, "latency": 0.25, "tools": 0.0}


def test_the_call_whose_answer_ends_the_rollout_is_paid_for():
    # The last tool call is as dear and slow as any; only then the policy answers.
    attempt = rollout(
        turn(result("a", 1.0)),
        turn(result("b", 30.0)),
        turn(text="4"),
        ledger=(entry("tool", 0.01, "a", 0), entry("tool", 0.5, "b", 1)),
    )
    measured = measure(attempt, episode(), SOLVED)
    assert measured.cost_usd == pytest.approx(0.51)
    assert measured.latency_s == 31.0
    assert measured.tool_counts == {"a": 1, "b": 1}


def test_calls_in_the_very_last_turn_count():
    # A rollout cut off at its turn limit ends with a turn that holds calls.
    attempt = rollout(
        turn(result("a", 1.0)), status="max_turns", answer=None, ledger=(entry("tool", 0.2),)
    )
    measured = measure(attempt, episode(), FAILED)
    assert (measured.tool_counts["a"], measured.cost_usd, measured.latency_s) == (1, 0.2, 1.0)


def test_the_policys_own_tokens_are_paid_for_at_their_own_price():
    attempt = rollout(turn(text="4"), ledger=(entry("policy", 0.07, "policy"),))
    assert measure(attempt, episode(), SOLVED).cost_usd == 0.07


def test_rollouts_that_never_called_a_tool_set_its_minimum():
    # Counts 0, 1, 2 of a: normalised 0, 0.5, 1. Without the zero: -1, 0, 1.
    rollouts = [
        rollout(*[turn(result("a"))] * count, turn(text="4"), sample=count) for count in range(3)
    ]
    assert rewards_of(rollouts, preference(a=1.0)) == [0.0, 0.5, 1.0]


def test_a_tool_that_only_some_rollouts_used_equally_often_still_counts():
    # Two calls of a in two rollouts, none in the third: 1, 1, 0; the original gives 0 to all.
    used = [turn(result("a"), result("a")), turn(text="4")]
    rollouts = [
        rollout(*used, sample=0),
        rollout(*used, sample=1),
        rollout(turn(text="4"), sample=2),
    ]
    assert rewards_of(rollouts, preference(a=1.0)) == [1.0, 1.0, 0.0]


def test_every_call_of_a_turn_counts_not_only_the_first():
    attempt = rollout(turn(result("a"), result("b"), result("a")), turn(text="4"))
    assert measure(attempt, episode(), SOLVED).tool_counts == {"a": 2, "b": 1}


def test_every_offered_tool_has_a_count_even_if_no_rollout_used_it():
    offered = (tool("a"), tool("b"), tool("c"))
    assert measure(rollout(), episode(*offered), SOLVED).tool_counts == {"a": 0, "b": 0, "c": 0}


def test_turns_that_are_messages_are_trained():
    # A turn without a call, in the middle or at the end, is no format fault.
    talker = rollout(turn(text="Which year?"), turn(result("a")), turn(text="4"), sample=0)
    group = score_group(
        episode(),
        [talker, spender(0.1, sample=1)],
        [SOLVED, FAILED],
        rule="paper",
        preference=preference(outcome=1.0),
    )
    decision = filter_group(group, homogeneity_std=0.1, drop_malformed=True, drop_invalid=True)
    assert decision.is_kept == (True, True)


def test_a_fault_in_one_rollout_costs_that_rollout_and_not_its_batch():
    # The original skips the whole batch without a word.
    rollouts = [
        spender(0.1, sample=0),
        rollout(status="void", fault="timeout", sample=1),
        spender(0.3, sample=2),
    ]
    group = score_group(
        episode(),
        rollouts,
        [SOLVED, None, FAILED],
        rule="paper",
        preference=preference(outcome=1.0),
    )
    assert [attempt.sample for attempt in group.rollouts] == [0, 2]
    assert [score.reward for score in group.scores] == [1.0, 0.0]


def test_judging_is_not_charged_to_the_policy():
    attempt = rollout(turn(text="4"), ledger=(entry("judge", 0.5, "judge"),))
    assert measure(attempt, episode(), SOLVED).cost_usd == 0.0


@pytest.mark.parametrize("weight", [3.0, -0.3])
def test_preferences_outside_0_to_1_are_refused(weight):
    # The original's data weighs outcome and a tool by 3; a reproduction evaluates with cost -0.3.
    with pytest.raises(ValueError, match="use a number from 0 to 1"):
        paper_terms([measures()], preference(cost=weight))


def test_advantages_of_equal_rewards_are_zero_not_rounding_over_an_epsilon():
    values_G = advantages(torch.tensor([0.35] * 7), kind="group", clip=3.0)
    assert values_G.tolist() == [0.0] * 7


def test_evaluation_scores_what_the_paper_defines_over_all_examples():
    # The original's evaluation adds up neither cost nor latency nor preferences. Half the starting
    # policy's 20 cents, and all of its 4 minutes: 1 + 0.5 * 2 + 0.25 * 1.
    now, start = measures(1.0, 0.10, 240.0), measures(1.0, 0.20, 240.0)
    example = (now, start, preference(1.0, 0.5, 0.25))
    assert relative_score([example, example]) == pytest.approx(2 * 2.25)


def test_evaluation_rewards_spending_less_than_the_start():
    # Negative amounts, as Eq. 1 has them, would leave max(1, M) at 1 throughout.
    start, wanted = measures(1.0, 1.0, 600.0), preference(cost=1.0, latency=1.0)
    scores = [
        relative_reward(measures(1.0, 0.1 * step, 60.0 * step), start, wanted)
        for step in range(1, 9)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 8
