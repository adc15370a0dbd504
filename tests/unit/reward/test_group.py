import pytest
from tests.invariant.records import (
    FAILED,
    SOLVED,
    UNDECIDED,
    episode,
    preference,
    result,
    rollout,
    spender,
    turn,
)

from toolorchestra.reward.group import is_scorable, score_group

WANTED = preference(outcome=1.0, cost=0.5)


def test_scores_carry_reward_terms_measures_and_verdict():
    rollouts = [spender(0.1, sample=0), spender(0.3, sample=1), spender(0.2, sample=2)]
    group = score_group(
        episode(), rollouts, [SOLVED, SOLVED, FAILED], rule="paper", preference=WANTED
    )
    # -cost: 1, 0, 0.5; outcome 1, 1, 0.
    assert [score.reward for score in group.scores] == pytest.approx([1.5, 1.0, 0.0])
    assert group.scores[0].terms == {"outcome": 1.0, "cost": 0.5, "latency": 0.0, "tools": 0.0}
    assert group.scores[2].verdict is FAILED
    assert group.scores[1].measures.cost_usd == 0.3


def test_void_and_undecided_rollouts_are_left_out_and_move_no_minimum():
    # The void one spent nothing: were it in the group, 0.1 dollars would not be the cheapest.
    rollouts = [
        spender(0.1, sample=0),
        spender(0.0, sample=1, status="void"),
        spender(0.3, sample=2),
        spender(9.0, sample=3),
    ]
    verdicts = [SOLVED, None, SOLVED, UNDECIDED]
    group = score_group(episode(), rollouts, verdicts, rule="paper", preference=WANTED)
    assert [rollout.sample for rollout in group.rollouts] == [0, 2]
    assert [score.reward for score in group.scores] == [0.5, 0.0]


def test_a_void_rollout_is_not_scored_even_with_a_verdict():
    assert not is_scorable(spender(0.1, status="void"), FAILED)
    assert is_scorable(spender(0.1, status="max_turns", answer=None), FAILED)


def test_a_group_without_a_scorable_rollout_is_empty():
    group = score_group(episode(), [spender(0.1)], [UNDECIDED], rule="paper", preference=WANTED)
    assert (group.rollouts, group.scores) == ((), ())


def test_rollouts_come_back_in_order_of_sample():
    rollouts = [spender(0.3, sample=1), spender(0.1, sample=0)]
    group = score_group(episode(), rollouts, [SOLVED, SOLVED], rule="paper", preference=WANTED)
    assert [rollout.sample for rollout in group.rollouts] == [0, 1]
    assert [score.reward for score in group.scores] == [0.5, 0.0]


def test_every_rollout_needs_its_place_among_the_verdicts():
    with pytest.raises(ValueError):
        score_group(episode(), [spender(0.1)], [], rule="paper", preference=WANTED)


def test_a_favoured_tool_earns_by_its_calls_or_only_once():
    """Two calls against one: by the paper's rule the second earns too."""
    favoured = preference(a=1.0)
    rollouts = [
        rollout(*(turn(result("a")) for _ in range(calls)), turn(text="4"), sample=calls)
        for calls in range(3)
    ]

    def rewards(tool_use):
        group = score_group(
            episode(), rollouts, [SOLVED] * 3, rule="paper", preference=favoured, tool_use=tool_use
        )
        assert [s.measures.tool_counts["a"] for s in group.scores] == [0, 1, 2]
        return [score.reward for score in group.scores]

    assert rewards("count") == [0.0, 0.5, 1.0]
    assert rewards("once") == [0.0, 1.0, 1.0]


def test_an_unknown_rule_is_named():
    with pytest.raises(ValueError, match="'sum' is not allowed; use one of paper, gdpo"):
        score_group(episode(), [], [], rule="sum", preference=WANTED)
