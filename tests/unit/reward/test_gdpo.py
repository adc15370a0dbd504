import pytest
from tests.invariant.records import measures, preference

from toolorchestra.reward.gdpo import gdpo_terms


def test_each_term_is_standardised_before_it_is_weighted():
    # Outcome 1, 1, 0: mean 2/3, std sqrt(2)/3, so z = 1/sqrt2, 1/sqrt2, -sqrt2.
    # -cost min-max 1, 0, 0.5, 0 for the unsolved: 1, 0, 0, so z = sqrt2, -1/sqrt2, -1/sqrt2.
    terms = gdpo_terms(
        [measures(1.0, 1.0), measures(1.0, 3.0), measures(0.0, 2.0)], preference(1.0, 0.5)
    )
    root = 2**0.5
    assert [parts["outcome"] for parts in terms] == pytest.approx([1 / root, 1 / root, -root])
    assert [parts["cost"] for parts in terms] == pytest.approx(
        [0.5 * root, -0.5 / root, -0.5 / root]
    )


def test_cheap_and_wrong_earns_no_more_than_dear_and_wrong():
    terms = gdpo_terms(
        [measures(1.0, 5.0), measures(0.0, 0.0), measures(0.0, 9.0)], preference(1.0, 1.0)
    )
    assert terms[1] == terms[2]
    assert sum(terms[0].values()) > sum(terms[1].values())


def test_mixes_that_the_paper_rule_merges_stay_apart():
    # Eq. 2 gives the second and third 0.5 each: one for its count of a, the other of b.
    group = [measures(a=0, b=0), measures(a=1, b=0), measures(a=0, b=1), measures(a=0, b=1)]
    terms = gdpo_terms(group, preference(a=0.5, b=0.5))
    # a is rarer: 1 of 4 has std sqrt(3)/4, z = sqrt3; b: 2 of 4, z = 1.
    rewards = [sum(parts.values()) for parts in terms]
    assert rewards[1] == pytest.approx(0.5 * 3**0.5 - 0.5)
    assert rewards[2] == pytest.approx(-0.5 / 3**0.5 + 0.5)


def test_the_rewards_of_a_group_sum_to_zero():
    group = [measures(1.0, 0.1, 3.0, a=1), measures(1.0, 0.4, 1.0), measures(0.0, 0.2, 2.0)]
    terms = gdpo_terms(group, preference(1.0, 0.7, 0.3, a=0.2))
    assert sum(sum(parts.values()) for parts in terms) == pytest.approx(0.0, abs=1e-12)
