import pytest

from toolorchestra.report.significance import holm, mcnemar_exact, sign_flip_test


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),
        (3, 0, 2 / 8),
        (0, 5, 2 / 32),
        (1, 5, 2 * (1 + 6) / 64),
        (2, 2, 1.0),
        (1, 9, 2 * (1 + 10) / 1024),
    ],
)
def test_mcnemar_by_hand(first, second, p):
    assert mcnemar_exact(first, second) == pytest.approx(p)
    assert mcnemar_exact(second, first) == pytest.approx(p)


def test_mcnemar_of_thousands_of_tasks_is_exact():
    assert 0 < mcnemar_exact(1000, 1400) < 1e-12
    assert mcnemar_exact(1200, 1200) == 1.0


def test_sign_flips_of_a_few_are_counted_out():
    # of the eight flips of 1, 2, 3 only +++ and --- reach 6
    assert sign_flip_test([1.0, 2.0, 3.0]) == 2 / 8
    # the sum is 2; of 1, -2, 3 four more flips are as far from 0: sums 6, 4, 2, 0, and mirrored
    assert sign_flip_test([1.0, -2.0, 3.0]) == 6 / 8
    assert sign_flip_test([0.0, 0.0]) == 1.0


def test_sums_that_are_equal_but_for_rounding_count_as_equal():
    assert sign_flip_test([0.1, 0.2, -0.3]) == 1.0


def test_trials_of_one_task_are_flipped_together():
    assert sign_flip_test([1.0, 1.0, 2.0], clusters=["a", "a", "b"]) == sign_flip_test([2.0, 2.0])
    assert sign_flip_test([2.0, 2.0]) == 2 / 4


def test_many_are_drawn_by_seed_and_never_give_0():
    even, far = [1.0, -1.0] * 10, [1.0] * 40
    assert sign_flip_test(even) == 1.0
    assert sign_flip_test(far) == 1 / 10_001
    uneven = [1.0] * 13 + [-1.0] * 7
    drawn = sign_flip_test(uneven, seed=3)
    assert drawn == sign_flip_test(uneven, seed=3)
    # of 20 fair coins, at least 13 alike: 2 * 137,980 / 2 ** 20
    assert drawn == pytest.approx(0.26318, abs=0.02)


def test_nothing_cannot_be_tested():
    with pytest.raises(ValueError, match="no test of 0 differences"):
        sign_flip_test([])
    with pytest.raises(ValueError, match="no test of 2 differences in 1 clusters"):
        sign_flip_test([1.0, 2.0], clusters=["a"])


def test_holm_by_hand():
    # sorted: 0.01 * 4, 0.02 * 3, 0.03 * 2, 0.5; the third is lifted to the second
    given = {"a": 0.03, "b": 0.01, "c": 0.5, "d": 0.02}
    found = holm(given)
    assert list(found) == ["a", "b", "c", "d"]
    assert found == pytest.approx({"a": 0.06, "b": 0.04, "c": 0.5, "d": 0.06})
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0} and holm({}) == {}
