import pytest
from tests.invariant.records import preference

from toolorchestra.reward.weights import check_preference, weigh


def test_multipliers_scale_the_episodes_own_preference():
    wanted = weigh(
        preference(0.8, 0.4, 0.2, a=0.5),
        outcome=1.0,
        cost=0.5,
        latency=0.0,
        tools=0.1,
        is_fixed=False,
    )
    assert wanted == preference(0.8, 0.2, 0.0, a=0.05)


def test_a_fixed_preference_ignores_the_episodes():
    wanted = weigh(
        preference(0.0, 0.4, 0.2, a=0.5),
        outcome=1.0,
        cost=0.5,
        latency=0.25,
        tools=0.0,
        is_fixed=True,
    )
    assert wanted == preference(1.0, 0.5, 0.25)


def test_a_weight_for_a_tool_that_is_not_offered_is_an_error_even_if_0():
    with pytest.raises(ValueError, match="weighs ghost, which this episode does not offer"):
        check_preference(preference(ghost=0.0), ["a", "b"])


@pytest.mark.parametrize("bad", [1.5, -0.1, float("nan")])
def test_weights_outside_0_to_1_are_errors(bad):
    with pytest.raises(ValueError, match=f"weight of cost is {bad}; use a number from 0 to 1"):
        check_preference(preference(cost=bad), ["a"])
    with pytest.raises(ValueError, match="weight of a is"):
        check_preference(preference(a=bad), ["a"])
