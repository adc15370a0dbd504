import pytest

from toolorchestra.reward.normalize import is_constant, min_max, standardize


def test_min_max_brings_least_to_0_and_greatest_to_1():
    # (3 - 1) / (5 - 1) = 0.5
    assert min_max([1, 5, 3]) == [0.0, 1.0, 0.5]


def test_min_max_of_negated_amounts_gives_1_to_the_smallest_amount():
    # -0.5 is the greatest of -2, -0.5, -1: (-1 + 2) / 1.5 = 2/3
    assert min_max([-2.0, -0.5, -1.0]) == [0.0, 1.0, pytest.approx(2 / 3)]


@pytest.mark.parametrize("values", [[0.0, 0.0], [7.0, 7.0, 7.0], [0.1 + 0.2, 0.3], [4.0], []])
def test_equal_values_become_0(values):
    assert min_max(values) == [0.0] * len(values)
    assert standardize(values) == [0.0] * len(values)


def test_costs_of_a_millionth_of_a_dollar_are_still_told_apart():
    assert min_max([1e-9, 3e-9]) == [0.0, 1.0]


def test_rounding_is_relative_to_the_largest_magnitude():
    assert is_constant([1.0, 1.0 + 1e-10])
    assert not is_constant([1.0, 1.0 + 1e-8])
    assert not is_constant([0.0, 1e-12])


def test_standardize_uses_the_population_deviation():
    # mean 2, deviations -1, -1, 2, variance (1 + 1 + 4) / 3 = 2
    root = 2**0.5
    assert standardize([1.0, 1.0, 4.0]) == pytest.approx([-1 / root, -1 / root, 2 / root])
