"""Each measure, worked out by hand on four episodes."""

import pytest
from tests.unit.experiment.kept import kept, numbers, world

from toolorchestra.experiment.declared import Column
from toolorchestra.experiment.figures import Played, figure
from toolorchestra.report.stats import Estimate, wilson

RUN = Played(kept=kept({"local": world(policy=numbers())}), policy="policy")


def column(measure, **changes):
    return Column(name="x", measure=measure, **changes)


def test_accuracy_is_a_percentage_with_wilsons_interval():
    share = wilson(3, 4)
    found = figure(column("accuracy"), [RUN])
    assert found.value == 75.0
    assert (found.low, found.high) == pytest.approx((100 * share.low, 100 * share.high))


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("cents", 2.0),  # (2 + 4 + 1 + 1) / 4
        ("seconds", 60.0),  # (60 + 120 + 30 + 30) / 4
        ("minutes", 1.0),
        ("utility", 0.55),  # (1 + 0 + 0.5 + 0.7) / 4
    ],
)
def test_a_mean_is_over_all_episodes_and_lies_in_its_interval(measure, value):
    found = figure(column(measure), [RUN])
    assert found.value == pytest.approx(value)
    assert found.low < found.value < found.high


def test_skills_leave_out_other_episodes():
    assert figure(column("accuracy", skills=["math"]), [RUN]).value == 50.0  # e0 of e0 and e1
    assert figure(column("cents", skills=["lookup", "logic"]), [RUN]).value == 1.0
    assert figure(column("accuracy", skills=["code"]), [RUN]) is None


def test_what_has_no_score_is_left_out_and_not_counted_as_wrong():
    own = numbers(is_solved=(1.0, None, 1.0, 1.0))
    run = Played(kept=kept({"local": world(policy=own)}), policy="policy")
    assert figure(column("accuracy"), [run]).value == 100.0


def test_calls_and_shares_of_a_tool_and_malformed_calls():
    assert figure(column("calls", tool="big"), [RUN]) == 3 / 4
    assert figure(column("calls", tool="small"), [RUN]) == 1 / 2  # only where it is offered
    assert figure(column("share", tool="big"), [RUN]) == 75.0  # 3 of 4 calls
    assert figure(column("share", tool="other"), [RUN]) is None
    assert figure(column("malformed"), [RUN]) == 25.0


def test_a_gain_is_paired_by_episode():
    # utility 1, 0, 0.5, 0.7 against 0.5, 0, 0.5, none: (0.5 + 0 + 0) / 3
    other = numbers(utility=(0.5, 0.0, 0.5, None))
    reference = Played(kept=kept({"local": world(policy=other)}), policy="policy")
    assert figure(column("gain"), [RUN], reference).value == pytest.approx(0.5 / 3)
    assert figure(column("gain"), [RUN], None) is None


def test_the_mean_over_two_worlds_needs_both():
    two = kept({"hle": world(policy=numbers()), "frames": world(policy=numbers(cents=(4.0,) * 4))})
    run = Played(kept=two, policy="policy")
    both = column("cents", worlds=["hle", "frames"])
    hle = figure(column("cents", worlds=["hle"]), [run])
    found = figure(both, [run])
    assert found.value == 3.0  # (2 + 4) / 2
    assert found.high == pytest.approx(3.0 + (hle.high - 2.0) / 2)  # frames has no arms
    only = Played(kept=kept({"hle": world(policy=numbers())}), policy="policy")
    assert figure(both, [only]) is None
    parts = [only, Played(kept=kept({"frames": world(policy=numbers())}), policy="policy")]
    assert isinstance(figure(both, parts), Estimate)


def test_runs_of_several_seeds_in_one_world_are_pooled():
    other = Played(
        kept=kept({"local": world(policy=numbers(cents=(4.0, 4.0, 4.0, 4.0)))}), policy="policy"
    )
    assert figure(column("cents"), [RUN, other]).value == 3.0  # (8 + 16) / 8


def test_a_policy_or_a_world_that_is_not_there_has_no_figure():
    assert figure(column("cents"), [Played(kept=RUN.kept, policy="oracle")]) is None
    assert figure(column("cents", worlds=["hle"]), [RUN]) is None
    assert figure(column("cents"), []) is None
