import pytest
from tests.invariant.records import measures, preference, tool

from toolorchestra.reward.evaluate import relative_reward, relative_score, utility

P_ALL = preference(1.0, 0.5, 0.25, a=0.4)


def test_relative_reward_worked_out_by_hand():
    # Start: a twice, solved, 12 cents, 3 minutes. Now: a three times, solved, 4 cents, 1.5 minutes.
    # a 3/2, outcome 1/1, cost 12/4 = 3, latency 3/1.5 = 2:
    # 0.4 * 1.5 + 1 * 1 + 0.5 * 3 + 0.25 * 2 = 3.6
    now = measures(1.0, cost_usd=0.04, latency_s=90.0, a=3)
    start = measures(1.0, cost_usd=0.12, latency_s=180.0, a=2)
    assert relative_reward(now, start, P_ALL) == pytest.approx(3.6)


def test_relative_reward_has_a_floor_of_one_call_one_cent_and_one_minute():
    # Start: never a, unsolved, 2 cents, half a minute. Now: a once, 0.1 cents, 6 seconds.
    # a 1/max(1, 0), outcome 1/max(1, 0), cost 2/max(1, 0.1), latency 0.5/max(1, 0.1):
    # 0.4 + 1 + 0.5 * 2 + 0.25 * 0.5 = 2.525
    now = measures(1.0, cost_usd=0.001, latency_s=6.0, a=1)
    start = measures(0.0, cost_usd=0.02, latency_s=30.0)
    assert relative_reward(now, start, P_ALL) == pytest.approx(2.525)


def test_relative_reward_of_an_unsolved_example_is_zero():
    assert relative_reward(measures(0.0, a=5), measures(), P_ALL) == 0.0


def test_a_benchmarks_score_is_the_sum_over_its_examples():
    solved = (measures(1.0), measures(1.0), preference(outcome=1.0))
    failed = (measures(0.0), measures(1.0), preference(outcome=1.0))
    assert relative_score([solved, solved, failed]) == 2.0


OFFERED = (tool("a", call_cost_usd=0.03, latency_s=2.0), tool("b", 0.01, 6.0))


def test_utility_worked_out_by_hand():
    # cost_all 0.04, latency_all 8; spent 0.01 and 6: 1 - 0.25 and 1 - 0.75. Used b, not a.
    # 1 + 0.5 * 0.75 + 0.25 * 0.25 + 0.3 = 1.7375
    wanted = preference(1.0, 0.5, 0.25, a=0.4, b=0.3)
    assert utility(measures(1.0, 0.01, 6.0, b=2), wanted, OFFERED) == pytest.approx(1.7375)


def test_utility_counts_whether_a_tool_ran_not_how_often():
    wanted = preference(a=0.4)
    once, often = measures(a=1), measures(a=9)
    assert utility(once, wanted, OFFERED) == utility(often, wanted, OFFERED) == 0.4


def test_utility_of_an_unsolved_rollout_is_zero():
    assert utility(measures(0.0, 0.01, 6.0, a=1), P_ALL, OFFERED) == 0.0


def test_spending_more_than_one_call_of_everything_costs_utility():
    # 0.06 of 0.04 dollars: 0.5 * (1 - 1.5) = -0.25
    assert utility(measures(1.0, 0.06), preference(cost=0.5), OFFERED) == pytest.approx(-0.25)


def test_where_everything_is_free_and_instant_both_terms_count_fully():
    offered = (tool("a", 0.0, 0.0),)
    assert utility(measures(1.0, 0.0, 0.0), preference(0.0, 0.5, 0.25), offered) == 0.75


def test_preferences_over_absent_tools_are_refused():
    with pytest.raises(ValueError, match="ghost"):
        utility(measures(), preference(ghost=1.0), OFFERED)
    with pytest.raises(ValueError, match="ghost"):
        relative_reward(measures(), measures(), preference(ghost=1.0))
