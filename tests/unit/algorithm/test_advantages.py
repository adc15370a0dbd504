import pytest
import torch

from toolorchestra.algorithm.advantages import ADVANTAGES, advantages


def of(rewards, kind="group", clip=3.0):
    return advantages(torch.tensor(rewards), kind=kind, clip=clip).tolist()


def test_group_relative_uses_the_population_deviation():
    # mean 1, variance (1 + 0 + 0 + 1) / 4 = 0.5
    root = 2**0.5
    assert of([0.0, 1.0, 1.0, 2.0]) == pytest.approx([-root, 0.0, 0.0, root])


def test_no_std_only_subtracts_the_mean():
    assert of([0.0, 1.0, 1.0, 2.0], "no_std") == [-1.0, 0.0, 0.0, 1.0]


def test_leave_one_out_subtracts_the_mean_of_the_others():
    # 0 - 4/3, 1 - 3/3, 1 - 3/3, 2 - 2/3
    assert of([0.0, 1.0, 1.0, 2.0], "leave_one_out") == pytest.approx([-4 / 3, 0.0, 0.0, 4 / 3])


@pytest.mark.parametrize("kind", ADVANTAGES)
@pytest.mark.parametrize("value", [0.2, 0.35, 0.1, 1 / 3, 0.0, -0.7, 1e-8])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100])
def test_equal_rewards_give_exact_zeros_for_any_value_and_size(kind, value, size):
    assert of([value] * size, kind) == [0.0] * size


@pytest.mark.parametrize("kind", ADVANTAGES)
def test_rewards_that_differ_by_rounding_alone_are_equal(kind):
    assert of([0.1 + 0.2, 0.3, 0.3], kind) == [0.0] * 3
    one_ulp_more = torch.nextafter(torch.tensor(0.2), torch.tensor(1.0))
    rewards_G = torch.stack([torch.tensor(0.2)] * 7 + [one_ulp_more])
    assert advantages(rewards_G, kind=kind, clip=0.0).tolist() == [0.0] * 8


def test_one_winner_among_eight_stays_within_the_bound():
    # Population: (0.6 * 7/8) / (0.6 * sqrt(7)/8) = sqrt(7) = 2.65
    values = of([0.35] * 7 + [0.95])
    assert values[-1] == pytest.approx(7**0.5)
    assert values[0] == pytest.approx(-(7**-0.5))
    assert of([0.35] * 7 + [0.95], "leave_one_out")[-1] == pytest.approx(0.6)


def test_one_winner_among_many_is_clipped():
    # Of 26 with one winner: sqrt(25) = 5
    assert of([0.0] * 25 + [1.0])[-1] == 3.0
    assert of([0.0] * 25 + [1.0], clip=0.0)[-1] == pytest.approx(5.0)


@pytest.mark.parametrize("kind", ADVANTAGES)
def test_an_empty_group_has_no_advantages(kind):
    assert of([], kind) == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_missing_reward_is_an_error_never_zero(bad):
    with pytest.raises(ValueError, match="rewards must be finite"):
        of([1.0, bad])
