import math
import random

import pytest

from toolorchestra.report.stats import (
    Estimate,
    accuracy,
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_ratio,
    closed_share,
    cohens_kappa,
    wilson,
)


def test_wilson_matches_a_worked_example():
    # 8 of 10, z = 1.95996: middle (0.8 + 0.19207) / 1.38415 = 0.71674,
    # half 1.95996 * sqrt(0.016 + 0.0096036) / 1.38415 = 0.22658.
    estimate = wilson(8, 10)
    assert estimate.value == 0.8
    assert estimate.low == pytest.approx(0.49016, abs=2e-5)
    assert estimate.high == pytest.approx(0.94332, abs=2e-5)


def test_wilson_stays_in_the_unit_interval_and_reaches_its_ends():
    # 0 of 10: high = z^2 / (n + z^2) = 3.84146 / 13.84146.
    none, all_ = wilson(0, 10), wilson(10, 10)
    assert (none.low, all_.high) == (0.0, 1.0)
    assert none.high == pytest.approx(0.27753, abs=2e-5)
    assert all_.low == pytest.approx(1 - none.high)


@pytest.mark.parametrize(("num_solved", "num_tried"), [(0, 0), (3, 2), (-1, 4)])
def test_wilson_refuses_impossible_counts(num_solved, num_tried):
    with pytest.raises(ValueError, match="no share can be formed"):
        wilson(num_solved, num_tried)


VALUES = [1.0] * 4 + [0.0] * 4


def test_bootstrap_of_independent_values_gives_binomial_quantiles():
    # Binomial(8, 1/2): P(0) = 0.0039 < 0.025 < P(<= 1) = 0.035, so the ends are 1/8 and 7/8.
    assert bootstrap_mean(VALUES) == Estimate(value=0.5, low=0.125, high=0.875)


def test_bootstrap_over_two_tasks_knows_that_it_saw_only_two():
    # A quarter of the resamples draws the same task twice: the interval is everything.
    clusters = ["a"] * 4 + ["b"] * 4
    assert bootstrap_mean(VALUES, clusters=clusters) == Estimate(value=0.5, low=0.0, high=1.0)


def test_bootstrap_weighs_rollouts_not_tasks():
    assert bootstrap_mean([1.0, 1.0, 1.0, 0.0], clusters=["a", "a", "a", "b"]).value == 0.75


def test_order_of_the_values_does_not_matter_to_clusters():
    shuffled = list(zip(VALUES, ["a"] * 4 + ["b"] * 4, strict=True))
    random.Random(0).shuffle(shuffled)
    values, clusters = zip(*shuffled, strict=True)
    assert bootstrap_mean(values, clusters=clusters).low == 0.0


def test_bootstrap_is_repeatable_and_close_to_the_normal_interval():
    rng = random.Random(1)
    values = [rng.gauss(2.0, 1.0) for _ in range(400)]
    estimate = bootstrap_mean(values, seed=3)
    assert estimate == bootstrap_mean(values, seed=3)
    mean = sum(values) / 400
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / 400 / 400)
    assert estimate.low == pytest.approx(mean - 1.96 * error, abs=0.1 * error)
    assert estimate.high == pytest.approx(mean + 1.96 * error, abs=0.1 * error)


def test_pairing_removes_what_both_policies_share():
    # Episodes differ wildly, ours is better by exactly 0.1 on each.
    theirs = [random.Random(i).random() for i in range(50)]
    estimate = bootstrap_difference([t + 0.1 for t in theirs], theirs)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.1, 0.1, 0.1))


def test_difference_has_a_sign():
    assert bootstrap_difference([0.0] * 5, [1.0] * 5).high == -1.0


def test_closed_share_of_constant_gains_is_exact():
    # (0.5 - 0.2) / (0.8 - 0.2) = 0.5 whatever is drawn.
    estimate = closed_share([0.2] * 6, [0.5] * 6, [0.8] * 6)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.5, 0.5, 0.5))


def test_closed_share_is_a_ratio_of_means_not_a_mean_of_ratios():
    # Gains 1 and 0 over gaps 1 and 3: (1 + 0) / (1 + 3) = 0.25; the mean of ratios is 0.5.
    # Resamples: both first 1/1, both second 0/3, so the ends are 1 and 0.
    estimate = closed_share([0.0, 0.0], [1.0, 0.0], [1.0, 3.0])
    assert estimate == Estimate(value=0.25, low=0.0, high=1.0)


def test_closed_share_admits_that_an_oracle_hardly_better_tells_nothing():
    # Gaps 1 and -0.5, gains 0.5 and -0.5: both second is a quarter of the resamples.
    assert closed_share([0.0, 1.0], [0.5, 0.5], [1.0, 0.5]).low == -math.inf


def test_closed_share_needs_an_oracle_above_the_start():
    with pytest.raises(ValueError, match="the oracle's mean"):
        closed_share([0.5, 0.5], [0.6, 0.6], [0.5, 0.5])


def test_lengths_must_agree_and_not_be_zero():
    with pytest.raises(ValueError, match="common length"):
        bootstrap_mean([])
    with pytest.raises(ValueError, match="common length"):
        bootstrap_difference([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="common length"):
        bootstrap_mean([1.0, 2.0], clusters=["a"])


def pairs(both, first_only, second_only, neither):
    """Verdicts of two judges with these counts."""
    first = [True] * (both + first_only) + [False] * (second_only + neither)
    second = [True] * both + [False] * first_only + [True] * second_only + [False] * neither
    return first, second


def test_kappa_matches_a_worked_example():
    # 20 both right, 5 and 10 one alone, 15 neither: agreement 35/50 = 0.7; by chance
    # 0.5 0.6 + 0.5 0.4 = 0.5; kappa (0.7 - 0.5) / (1 - 0.5) = 0.4.
    estimate = cohens_kappa(*pairs(20, 5, 10, 15))
    assert estimate.value == pytest.approx(0.4)
    assert estimate.low < 0.4 < estimate.high


def test_kappa_is_1_for_equal_and_minus_1_for_opposite_judges():
    assert cohens_kappa(*pairs(5, 0, 0, 5)) == Estimate(value=1.0, low=1.0, high=1.0)
    assert cohens_kappa(*pairs(0, 5, 5, 0)).value == pytest.approx(-1.0)


@pytest.mark.parametrize("counts", [(9, 0, 0, 0), (0, 0, 0, 9), (0, 0, 0, 0)])
def test_kappa_is_not_defined_where_both_find_all_alike(counts):
    assert cohens_kappa(*pairs(*counts)) is None


def test_kappas_interval_is_wider_where_answers_come_in_clusters():
    first, second = pairs(20, 5, 10, 15)
    alone = cohens_kappa(first, second)
    clusters = [str(i // 5) for i in range(50)]
    together = cohens_kappa(first, second, clusters=clusters)
    assert together.value == pytest.approx(alone.value)
    assert together.high - together.low > alone.high - alone.low
    assert cohens_kappa(first, second) == alone  # the same seed


def test_kappa_refuses_judges_of_different_answers():
    with pytest.raises(ValueError):
        cohens_kappa([True], [True, False])


def test_the_accuracy_of_one_trial_a_task_has_wilsons_interval():
    assert accuracy([1.0, 0.0, 1.0], clusters=["a", "b", "c"]) == wilson(2, 3)


def test_the_accuracy_of_several_trials_a_task_is_bootstrapped_over_tasks():
    outcomes, tasks = [1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"]
    found = accuracy(outcomes, clusters=tasks)
    assert found == bootstrap_mean(outcomes, clusters=tasks)
    # two tasks: one that is always solved, one that never is
    assert found == Estimate(value=0.5, low=0.0, high=1.0)


def test_a_ratio_is_of_sums_and_resampled_by_cluster():
    found = bootstrap_ratio([3.0, 0.0], [4.0, 1.0])
    # a resample is 3/4 twice, 0/1 twice, or one of each
    assert found == Estimate(value=3 / 5, low=0.0, high=0.75)
    together = bootstrap_ratio([3.0, 0.0], [4.0, 1.0], clusters=["a", "a"])
    assert together == Estimate(value=0.6, low=0.6, high=0.6)


def test_a_ratio_of_nothing_is_not_defined_and_resamples_of_nothing_are_left_out():
    assert bootstrap_ratio([0.0], [0.0]) is None
    found = bootstrap_ratio([1.0, 0.0], [2.0, 0.0])
    assert found == Estimate(value=0.5, low=0.5, high=0.5)
