import pytest
from tests.invariant.records import FAILED, episode, measures, result, rollout, turn

from toolorchestra.algorithm.filters import (
    count_drops,
    filter_group,
    has_format_fault,
    has_valid_output,
    is_group_homogeneous,
)
from toolorchestra.types import CallError, Group, Score

OFFERED = frozenset({"a", "b"})
GOOD = rollout(turn(result("a")), turn(text="4"))
MALFORMED = rollout(turn(errors=(CallError(message="no JSON", text="{"),)), turn(text="4"))
INVALID = rollout(turn(result("a")), status="max_turns", answer=None)


def group_of(*pairs):
    return Group(
        episode=episode(),
        rollouts=tuple(attempt for attempt, _ in pairs),
        scores=tuple(
            Score(reward=reward, terms={}, measures=measures(), verdict=FAILED)
            for _, reward in pairs
        ),
    )


def decide(*pairs, homogeneity_std=0.1, drop_malformed=True, drop_invalid=True):
    return filter_group(
        group_of(*pairs),
        homogeneity_std=homogeneity_std,
        drop_malformed=drop_malformed,
        drop_invalid=drop_invalid,
    )


def test_groups_whose_rewards_deviate_by_less_than_the_threshold_are_homogeneous():
    # Two rewards x apart deviate by x / 2.
    assert is_group_homogeneous([0.0, 0.19], 0.1)
    assert not is_group_homogeneous([0.0, 0.21], 0.1)


@pytest.mark.parametrize("base", [0.0, 0.1, 0.35, 1.0, 2.7])
def test_a_deviation_of_exactly_the_threshold_is_kept_despite_rounding(base):
    assert not is_group_homogeneous([base, base + 0.2], 0.1)


@pytest.mark.parametrize("rewards", [[], [0.7], [0.2] * 8])
def test_empty_single_and_equal_groups_are_homogeneous(rewards):
    assert is_group_homogeneous(rewards, 0.1)


def test_threshold_zero_drops_no_group():
    assert not is_group_homogeneous([0.2] * 8, 0.0)


def test_a_homogeneous_group_is_dropped_whole():
    decision = decide((GOOD, 0.5), (GOOD, 0.5), (MALFORMED, 0.5))
    assert decision.is_homogeneous
    assert decision.is_kept == (False, False, False)


def test_malformed_and_invalid_rollouts_are_dropped_and_their_siblings_kept():
    decision = decide((GOOD, 1.0), (MALFORMED, 0.0), (INVALID, 0.0), (GOOD, 0.0))
    assert decision.is_malformed == (False, True, False, False)
    assert decision.is_invalid == (False, False, True, False)
    assert decision.is_kept == (True, False, False, True)


def test_dropped_rollouts_still_count_in_the_deviation_of_their_group():
    # Without the malformed one, the two kept rewards would be equal.
    assert decide((GOOD, 1.0), (GOOD, 1.0), (MALFORMED, 0.0)).is_kept == (True, True, False)


def test_a_filter_that_is_switched_off_still_reports():
    decision = decide((GOOD, 1.0), (MALFORMED, 0.0), (INVALID, 0.0), drop_malformed=False)
    assert decision.is_malformed == (False, True, False)
    assert decision.is_kept == (True, True, False)
    assert decide((GOOD, 1.0), (INVALID, 0.0), drop_invalid=False).is_kept == (True, True)


def test_a_malformed_rollout_that_is_kept_counts_as_failed_whatever_it_earned():
    pair = ((GOOD, 1.5), (MALFORMED, 2.0))
    assert decide(*pair, drop_malformed=False).rewards == (1.5, 0.0)
    assert decide(*pair).rewards == (1.5, 2.0)  # dropped: it still tells how the group did
    # by a rule whose failures earn less than 0
    below = decide((GOOD, -0.5), (MALFORMED, 0.9), (GOOD, -0.4), drop_malformed=False)
    assert below.rewards == (-0.5, -0.5, -0.4)


def test_a_fault_of_format_tells_a_group_apart_where_it_counts_as_failed():
    assert not decide((GOOD, 1.0), (MALFORMED, 1.0), drop_malformed=False).is_homogeneous
    assert decide((GOOD, 1.0), (MALFORMED, 1.0)).is_homogeneous


def test_a_call_that_was_turned_down_is_a_format_fault():
    refused = result("a", status="policy_error", metadata={"malformed": True})
    assert has_format_fault(rollout(turn(refused)), OFFERED)


def test_a_call_of_no_offered_tool_is_a_format_fault():
    assert has_format_fault(rollout(turn(result("ghost", status="policy_error"))), OFFERED)


def test_an_error_of_the_users_program_is_no_format_fault():
    failed = result("a", status="policy_error", content="ZeroDivisionError")
    assert not has_format_fault(rollout(turn(failed)), OFFERED)


@pytest.mark.parametrize("bad_turn", [0, 1, 2])
def test_one_bad_turn_anywhere_is_a_format_fault(bad_turn):
    turns = [turn(result("a")), turn(result("b")), turn(text="4")]
    turns[bad_turn] = turn(errors=(CallError(message="no name", text="{}"),))
    assert has_format_fault(rollout(*turns), OFFERED)


@pytest.mark.parametrize("status", ["max_turns", "context_full", "truncated"])
def test_rollouts_that_never_answered_are_invalid(status):
    assert not has_valid_output(rollout(status=status, answer="4"))


@pytest.mark.parametrize("answer", [None, "", " \n\t"])
def test_blank_answers_are_invalid(answer):
    assert not has_valid_output(rollout(answer=answer))


def test_a_wrong_answer_is_valid_output():
    assert has_valid_output(rollout(answer="5"))


def test_drops_are_counted_by_finding():
    decisions = [
        decide((GOOD, 1.0), (MALFORMED, 0.0), (INVALID, 0.0)),
        decide((GOOD, 0.5), (MALFORMED, 0.5)),
    ]
    assert count_drops(decisions) == {
        "num_groups": 2,
        "num_homogeneous_groups": 1,
        "num_rollouts": 5,
        "num_homogeneous": 2,
        "num_malformed": 2,
        "num_invalid": 1,
        "num_dropped": 4,
    }
