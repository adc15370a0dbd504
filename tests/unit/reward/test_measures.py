from dataclasses import replace

import pytest
from tests.invariant.records import (
    FAILED,
    SOLVED,
    UNDECIDED,
    entry,
    episode,
    result,
    rollout,
    turn,
)

from toolorchestra.reward.measures import cost_usd, latency_s, measure, tool_counts
from toolorchestra.types import Measures


def test_measures_of_a_rollout_worked_out_by_hand():
    # Turn 0 calls a and b at once, turn 1 calls a twice at once, turn 2 answers.
    # Latency: 2 + 5 + 1 + 0.5 = 8.5, the sum over calls.
    # Cost: 0.03 + 0.02 + 0.01, not the judge's or user's.
    attempt = rollout(
        turn(result("a", 2.0), result("b", 5.0)),
        turn(result("a", 1.0), result("a", 0.5)),
        turn(text="4"),
        ledger=(
            entry("tool", 0.03),
            entry("tool", 0.02, "b"),
            entry("policy", 0.01, "policy", 2),
            entry("judge", 0.5, "judge", 2),
            entry("user", 0.25, "user", 2),
        ),
    )
    assert measure(attempt, episode(), SOLVED) == Measures(
        tool_counts={"a": 3, "b": 1}, outcome=1.0, cost_usd=pytest.approx(0.06), latency_s=8.5
    )


def test_outcome_is_0_for_a_failed_rollout_whose_other_entries_stay():
    measured = measure(
        rollout(turn(result("a", 2.0)), ledger=(entry("tool", 0.03),)), episode(), FAILED
    )
    assert (measured.outcome, measured.cost_usd, measured.latency_s) == (0.0, 0.03, 2.0)


def test_a_program_that_failed_in_the_sandbox_ran_and_counts():
    failed = result("a", status="policy_error", content="ZeroDivisionError")
    assert tool_counts(rollout(turn(failed)), ["a"]) == {"a": 1}


def test_abstaining_is_an_executed_call():
    assert tool_counts(rollout(turn(result("a", status="abstained"))), ["a"]) == {"a": 1}


def test_a_call_that_was_turned_down_earns_no_count():
    refused = result("a", status="policy_error", metadata={"malformed": True})
    assert tool_counts(rollout(turn(refused)), ["a"]) == {"a": 0}


def test_a_tool_that_is_not_offered_is_not_counted():
    assert tool_counts(rollout(turn(result("ghost"))), ["a"]) == {"a": 0}


def test_judge_and_user_costs_can_be_asked_for_apart():
    attempt = rollout(ledger=(entry("tool", 0.03), entry("judge", 0.5), entry("user", 0.25)))
    assert cost_usd(attempt, kinds=("judge", "user")) == 0.75


def test_a_rollout_that_called_nothing_costs_and_takes_nothing():
    assert (cost_usd(rollout()), latency_s(rollout(turn(text="4")))) == (0.0, 0.0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.01])
def test_an_unknown_or_negative_cost_is_refused_never_taken_as_free(bad):
    with pytest.raises(ValueError, match="ledger's cost of a in turn 0"):
        cost_usd(rollout(ledger=(entry("tool", bad),)))


def test_void_and_undecided_rollouts_have_no_measures():
    with pytest.raises(AssertionError):
        measure(rollout(status="void"), episode(), FAILED)
    with pytest.raises(AssertionError):
        measure(rollout(), episode(), UNDECIDED)


def test_a_policys_own_time_counts_where_a_provider_serves_it():
    served = replace(entry("policy", 0.01, "policy"), latency_s=4.0)
    judged = replace(entry("judge", 0.01, "judge"), latency_s=9.0)
    attempt = rollout(turn(result("a", 2.0)), ledger=(served, judged))
    assert latency_s(attempt) == 6.0
