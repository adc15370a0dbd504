from dataclasses import replace

import pytest
from tests.unit.report.measures.attempts import attempt, measures

from toolorchestra.report.paired import MCNEMAR, PERMUTATION, compare_pairs, paired_table
from toolorchestra.report.pairing import Pair, Side
from toolorchestra.report.stats import bootstrap_difference, wilson


def tried(episode, solved, cents=2.0, utility=1.0):
    found = measures(float(solved), cost_usd=cents / 100, latency_s=10 * cents)
    return attempt("p", episode, measures=found, utility=utility if solved else 0.0)


def pair(episode, ours, theirs):
    return Pair(task=f"task of {episode}", ours=ours, theirs=theirs)


# Solved by ours alone: e0, e1, e2; by theirs alone: none; e3 by both; e4 has no score of theirs.
PAIRS = [
    *(pair(e, (tried(e, True, 3.0),), (tried(e, False, 1.0),)) for e in ("e0", "e1", "e2")),
    pair("e3", (tried("e3", True, 1.0),), (tried("e3", True, 1.0),)),
    pair("e4", (tried("e4", True),), (attempt("p", "e4", measures=None),)),
]


def rows_of(compared):
    return {row.measure: row for row in compared.rows}


def test_differences_are_over_episodes_with_a_score_of_both():
    found = compare_pairs("seen", PAIRS)
    assert (found.num_shared, found.num_scored) == (5, 4)
    assert (found.num_ours_alone, found.num_theirs_alone) == (3, 0)
    rows = rows_of(found)
    assert rows["accuracy"].ours == wilson(4, 4) and rows["accuracy"].theirs == wilson(1, 4)
    assert rows["accuracy"].difference.value == pytest.approx(0.75)
    assert rows["cents"].difference.value == pytest.approx(1.5)  # 2, 2, 2 and 0
    assert rows["seconds"].difference.value == pytest.approx(15.0)
    assert rows["utility"].difference.value == pytest.approx(0.75)
    tasks = [f"task of e{i}" for i in range(4)]
    expected = bootstrap_difference([1.0] * 4, [0.0, 0.0, 0.0, 1.0], clusters=tasks)
    assert rows["accuracy"].difference == expected


def test_p_values_by_hand_and_corrected_over_the_four_measures():
    rows = rows_of(compare_pairs("seen", PAIRS))
    assert rows["accuracy"].test == MCNEMAR and rows["cents"].test == PERMUTATION
    # three discordant, all one way: 2 / 8; the flips of 2, 2, 2, 0 that reach 6: 4 of 16
    assert [row.p for row in rows.values()] == pytest.approx([0.25] * 4)
    assert [row.p_holm for row in rows.values()] == pytest.approx([1.0] * 4)


def test_of_several_trials_the_mean_counts_and_mcnemar_does_not_apply():
    trials = tuple(replace(tried("e0", i < 3), trial=i) for i in range(4))
    found = compare_pairs("seen", [pair("e0", trials, (tried("e0", False),))])
    row = rows_of(found)["accuracy"]
    assert row.test == PERMUTATION and row.difference.value == pytest.approx(0.75)
    assert row.p == 1.0 and found.num_ours_alone == 0  # one task alone shows nothing


def test_a_task_that_is_met_in_several_episodes_is_one_task():
    twice = [replace(item, task="one task") for item in PAIRS[:3]]
    row = rows_of(compare_pairs("seen", twice))["accuracy"]
    assert row.test == PERMUTATION and row.p == 1.0


def test_without_a_score_of_both_there_is_nothing_to_compare():
    with pytest.raises(ValueError, match="seen world: none of 1 episodes has a score of both"):
        compare_pairs("seen", PAIRS[4:])


def test_the_table_says_whom_it_compares_and_how():
    sides = [Side(run=run, policy="p", attempts=()) for run in ("one", "two")]
    table = paired_table(*sides, [compare_pairs("seen", PAIRS)], note="Simulated.")
    assert table.title == "A = one: p against B = two: p, paired by episode"
    assert [row[:2] for row in table.rows] == [
        ("seen", name) for name in ("accuracy", "cents", "seconds", "utility")
    ]
    assert "5 shared episodes, 4 with a score of both; solved by A alone 3" in table.note
    assert "Holm" in table.note and table.note.endswith("Simulated.")
