import pytest
from tests.invariant.records import measures, preference

from toolorchestra.reward.combine import paper_terms


def rewards(terms):
    return [sum(parts.values()) for parts in terms]


def test_terms_of_a_group_worked_out_by_hand():
    # P: outcome 1, cost 0.5, latency 0.25, a 0.4.
    # cost 1, 3, 2 dollars: -cost min-max 1, 0, 0.5. latency 10, 10, 30: 1, 1, 0.
    # a 0, 2, 1: 0, 1, 0.5. outcome 1, 1, 0: 1, 1, 0; the third is unsolved and gets nothing.
    terms = paper_terms(
        [
            measures(1.0, 1.0, 10.0, a=0),
            measures(1.0, 3.0, 10.0, a=2),
            measures(0.0, 2.0, 30.0, a=1),
        ],
        preference(1.0, 0.5, 0.25, a=0.4),
    )
    assert terms == [
        {"outcome": 1.0, "cost": 0.5, "latency": 0.25, "tools": 0.0},
        {"outcome": 1.0, "cost": 0.0, "latency": 0.25, "tools": 0.4},
        {"outcome": 0.0, "cost": 0.0, "latency": 0.0, "tools": 0.0},
    ]


def test_unsolved_rollout_earns_zero_even_when_cheap():
    terms = paper_terms([measures(0.0, 0.0), measures(1.0, 9.0)], preference(outcome=1.0, cost=1.0))
    # The cheap failure sets the maximum of -cost, so that the solved one gets 0 for its cost.
    assert rewards(terms) == [0.0, 1.0]


def test_the_outcome_adds_nothing_where_all_solved_it():
    # As the paper says: max = min normalises to 0. Cost alone tells the two apart.
    terms = paper_terms([measures(1.0, 1.0), measures(1.0, 2.0)], preference(1.0, 0.5))
    assert rewards(terms) == [0.5, 0.0]


def test_an_unweighted_tool_adds_nothing():
    terms = paper_terms([measures(a=0, b=0), measures(a=1, b=3)], preference(a=0.5))
    assert rewards(terms) == [0.0, 0.5]


def test_a_group_of_one_has_nothing_to_compare_and_earns_zero():
    assert rewards(paper_terms([measures(1.0, 1.0, 1.0, a=1)], preference(1, 1, 1, a=1))) == [0.0]


def test_an_empty_group_is_no_error():
    assert paper_terms([], preference(1.0)) == []


def test_a_preference_over_absent_tools_is_refused():
    with pytest.raises(ValueError, match="ghost"):
        paper_terms([measures()], preference(ghost=0.5))
