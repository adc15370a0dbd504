import pytest
from tests.unit.report.measures.attempts import evaluation, result

from toolorchestra.report.measures.passes import pass_at_k, pass_hat_k, pass_tables
from toolorchestra.report.stats import bootstrap_mean


@pytest.mark.parametrize(
    ("solved", "k", "at_least_one", "all_of_them"),
    [
        (0, 1, 0.0, 0.0),
        (1, 1, 1 / 4, 1 / 4),
        (1, 2, 1 - 3 / 6, 0.0),  # of the six pairs, three hold the one that was solved
        (2, 2, 1 - 1 / 6, 1 / 6),
        (2, 3, 1.0, 0.0),  # any three hold a solved one
        (3, 2, 1.0, 3 / 6),
        (4, 4, 1.0, 1.0),
    ],
)
def test_both_of_four_trials_by_hand(solved, k, at_least_one, all_of_them):
    assert pass_at_k(4, solved, k) == pytest.approx(at_least_one)
    assert pass_hat_k(4, solved, k) == pytest.approx(all_of_them)


def test_many_trials_are_counted_exactly():
    assert pass_at_k(2000, 1, 1000) == pytest.approx(0.5)
    assert pass_hat_k(2000, 1999, 1000) == pytest.approx(0.5)


@pytest.mark.parametrize(("trials", "solved", "k"), [(4, 2, 5), (4, 2, 0), (4, 5, 1), (0, 0, 1)])
def test_more_than_was_tried_cannot_be_told(trials, solved, k):
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=f"no pass of k={k} with {solved} solved of {trials}"):
            function(trials, solved, k)


def trials(episode, *outcomes):
    return [result("p", episode, solved, trial=i) for i, solved in enumerate(outcomes)]


def test_k_goes_up_to_the_task_with_the_fewest_scored_trials_and_the_rest_is_counted():
    (table,) = pass_tables(
        evaluation(
            *trials("e0", 1.0, 0.0, 1.0),
            *trials("e1", 0.0, None, 1.0),
            *trials("e2", None, None, None),
        ),
        "seen",
    )
    assert [row[:5] for row in table.rows] == [("p", 2, 1, 4, 1), ("p", 2, 1, 4, 2)]
    # e0: 2 of 3, e1: 1 of 2
    assert table.rows[0][5].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert table.rows[0][6].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert table.rows[1][5] == bootstrap_mean([1.0, 1.0])
    assert table.rows[1][6] == bootstrap_mean([1 / 3, 0.0])


def test_with_one_trial_a_task_there_is_no_table():
    assert pass_tables(evaluation(result("p", "e0"), result("p", "e1")), "seen") == []
