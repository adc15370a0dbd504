import pytest
from tests.unit.report.measures.attempts import (
    attempt,
    evaluation,
    measures,
    preference,
    rows_of,
)

from toolorchestra.report.measures.preference import preference_scores, preference_table

WISH = {"preference": preference("tool", outcome=0.5, cost=1.0, latency=1.0, tools={"a": 0.5})}
HURRIED = {"preference": preference("hurried", outcome=1.0)}
START = [
    # 6 cents, 4 minutes, two calls
    attempt("start", "e0", measures=measures(0.0, cost_usd=0.06, latency_s=240.0,
                                             tool_counts={"a": 2}), **WISH),
    attempt("start", "e1", measures=measures(0.0), **HURRIED),
    attempt("start", "e2", measures=None, **HURRIED),
]  # fmt: skip
OURS = [
    # 3 cents, 2 minutes, three calls: 0.5 * 3/2 + 0.5 * 1 + 6/3 + 4/2 = 5.25
    attempt("trained", "e0", measures=measures(1.0, cost_usd=0.03, latency_s=120.0,
                                               tool_counts={"a": 3}), **WISH),
    attempt("trained", "e1", measures=measures(0.0), **HURRIED),
    attempt("trained", "e2", **HURRIED),
]  # fmt: skip


def test_scores_by_hand_in_cents_and_minutes():
    scores = [score for _, score in preference_scores(OURS, START)]
    assert scores == pytest.approx([5.25, 0.0])


def test_below_a_cent_and_a_minute_the_floor_of_one_holds():
    cheap = measures(1.0, cost_usd=0.001, latency_s=1.0, tool_counts={"a": 0})
    ((_, score),) = preference_scores([attempt("p", "e0", measures=cheap, **WISH)], START)
    assert score == pytest.approx(0.5 + 6.0 + 4.0)


def test_of_several_trials_of_the_reference_the_mean_counts():
    twice = [*START, attempt("start", "e0", trial=1, measures=measures(
        1.0, cost_usd=0.03, latency_s=120.0, tool_counts={"a": 3}), **WISH)]  # fmt: skip
    ((_, score), _) = preference_scores(OURS, twice)
    assert score == pytest.approx((5.25 + (0.5 + 0.5 + 1.0 + 1.0)) / 2)


def test_the_table_names_its_reference_and_counts_what_is_left_out():
    table = preference_table(evaluation(*START, *OURS, reference="start"), "seen")
    assert table.title.endswith('against "start"') and "cents and latency in minutes" in table.note
    row = rows_of(table)["trained"]
    assert row["trials"] == 2 and row["left out"] == 1
    assert row["tool"].value == pytest.approx(5.25) and row["hurried"].value == 0.0
    assert row["all"].value == pytest.approx(2.625) and row["sum"] == pytest.approx(5.25)
    start = rows_of(table)["start"]
    assert (start["trials"], start["left out"], start["sum"]) == (2, 1, 0.0)


def test_a_reference_that_was_not_played_leaves_every_trial_out():
    table = preference_table(evaluation(*OURS, reference="random"), "seen")
    row = rows_of(table)["trained"]
    assert row["trials"] == 0 and row["left out"] == 3 and row["all"] is None
