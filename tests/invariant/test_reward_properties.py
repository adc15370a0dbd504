"""What holds of the reward for any group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.invariant.records import preference

from toolorchestra.reward.combine import paper_terms
from toolorchestra.reward.gdpo import gdpo_terms
from toolorchestra.types import Measures

WEIGHT = st.integers(0, 10).map(lambda tenths: tenths / 10)
# Whole cents and seconds: what shifts and scalings leave exact.
MEASURES = st.builds(
    lambda solved, cents, seconds, a, b: Measures(
        tool_counts={"a": a, "b": b},
        outcome=float(solved),
        cost_usd=cents / 128,
        latency_s=float(seconds),
    ),
    st.booleans(),
    st.integers(0, 500),
    st.integers(0, 500),
    st.integers(0, 5),
    st.integers(0, 5),
)
GROUPS = st.lists(MEASURES, min_size=1, max_size=8)
WANTED = st.builds(
    lambda outcome, cost, latency, a, b: preference(outcome, cost, latency, a=a, b=b),
    *[WEIGHT] * 5,
)


def total(terms):
    return [sum(parts.values()) for parts in terms]


@given(GROUPS, WANTED)
def test_rewards_lie_between_0_and_the_sum_of_p(group, wanted):
    most = wanted.outcome + wanted.cost + wanted.latency + sum(wanted.tools.values())
    assert all(0 <= reward <= most + 1e-12 for reward in total(paper_terms(group, wanted)))


@given(GROUPS, WANTED)
def test_unsolved_rollouts_earn_0(group, wanted):
    for reward, measured in zip(total(paper_terms(group, wanted)), group, strict=True):
        assert measured.outcome or reward == 0


@pytest.mark.parametrize("rule", [paper_terms, gdpo_terms])
@given(group=GROUPS, wanted=WANTED, data=st.data())
def test_reordering_the_rollouts_reorders_the_rewards(rule, group, wanted, data):
    order = data.draw(st.permutations(range(len(group))))
    rewards = total(rule(group, wanted))
    reordered = total(rule([group[i] for i in order], wanted))
    assert reordered == pytest.approx([rewards[i] for i in order], abs=1e-12)


@pytest.mark.parametrize("rule", [paper_terms, gdpo_terms])
@given(group=GROUPS, wanted=WANTED, fee=st.integers(0, 64), scale=st.sampled_from([0.25, 1, 2, 64]))
def test_a_fee_for_all_and_another_currency_change_no_reward(rule, group, wanted, fee, scale):
    elsewhere = [
        Measures(
            tool_counts=m.tool_counts,
            outcome=m.outcome,
            cost_usd=(m.cost_usd + fee) * scale,
            latency_s=(m.latency_s + fee) * scale,
        )
        for m in group
    ]
    assert total(rule(elsewhere, wanted)) == pytest.approx(total(rule(group, wanted)), abs=1e-12)


@given(GROUPS, WANTED, st.integers(0, 7), st.integers(1, 100))
def test_spending_more_never_raises_a_rollouts_own_reward(group, wanted, which, cents):
    which %= len(group)
    dearer = list(group)
    dearer[which] = Measures(
        tool_counts=group[which].tool_counts,
        outcome=group[which].outcome,
        cost_usd=group[which].cost_usd + cents / 128,
        latency_s=group[which].latency_s,
    )
    # Where all cost the same the term is 0 for all; a rival's share may rise, one's own does not.
    before = paper_terms(group, wanted)[which]["cost"]
    assert paper_terms(dearer, wanted)[which]["cost"] <= before + 1e-12
