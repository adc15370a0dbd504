import math

import pytest
from tests.unit.report.measures.attempts import attempt, evaluation, measures, result, rows_of

from toolorchestra.report.measures.calibration import (
    cais_calibration_error,
    calibration_bins,
    calibration_tables,
    rms_calibration_error,
)

# In order of confidence: (0.2, wrong), (0.4, right), (0.6, wrong), (0.8, right), (1.0, right).
SURE, RIGHT = [0.8, 0.2, 1.0, 0.4, 0.6], [1, 0, 1, 1, 0]


def test_bins_have_equal_counts_and_the_last_takes_the_rest():
    bins = calibration_bins(SURE, RIGHT, bin_size=2)
    assert [b.size for b in bins] == [2, 3]
    assert [b.confidence for b in bins] == pytest.approx([0.3, 0.8])
    assert [b.accuracy for b in bins] == pytest.approx([0.5, 2 / 3])


def test_the_rms_error_over_all_bins_by_hand():
    # 2/5 * 0.2 ** 2 + 3/5 * (0.8 - 2/3) ** 2 = 0.016 + 0.010667
    expected = math.sqrt(0.4 * 0.04 + 0.6 * (2 / 15) ** 2)
    assert rms_calibration_error(SURE, RIGHT, bin_size=2) == pytest.approx(expected)
    assert expected == pytest.approx(0.1633, abs=1e-4)


def test_the_cais_error_drops_the_most_confident_bin_but_not_from_the_weights_and_is_rounded():
    # sqrt(2/5 * 0.2 ** 2) = 0.12649
    assert cais_calibration_error(SURE, RIGHT, bin_size=2) == 0.13


def test_the_two_variants_differ_where_only_the_most_confident_are_wrong():
    sure, right = [0.0] * 100 + [1.0] * 100, [0.0] * 200
    assert rms_calibration_error(sure, right) == pytest.approx(math.sqrt(0.5))
    assert cais_calibration_error(sure, right) == 0.0


def test_bins_hold_100_answers():
    bins = calibration_bins([0.5] * 250, [1.0] * 250)
    assert [b.size for b in bins] == [100, 150]
    assert rms_calibration_error([0.5] * 250, [1.0] * 250) == pytest.approx(0.5)


def test_one_bin_leaves_nothing_to_the_cais_error_and_no_answers_leave_nothing_at_all():
    assert cais_calibration_error([0.5] * 199, [1.0] * 199) is None
    assert rms_calibration_error([0.5] * 3, [1.0, 1.0, 0.0]) == pytest.approx(1 / 6)
    assert rms_calibration_error([], []) is None and calibration_bins([], []) == []


def test_the_table_counts_what_states_nothing_and_shows_both_accuracies():
    wrong, asked = measures(0.0), {"is_asked_confidence": True}
    table, *others = calibration_tables(
        evaluation(
            result("p", "e0"),
            attempt("p", "e0", confidence=0.9, **asked),
            attempt("p", "e1", confidence=0.5, measures=wrong, **asked),
            attempt("p", "e2", **asked),
            attempt("p", "e3", has_answer=False, status="max_turns", measures=wrong, **asked),
            attempt("p", "e4", measures=None, confidence=0.9, **asked),
        ),
        "seen",
    )
    assert not others
    row = rows_of(table)["p"]
    assert (row["n"], row["scored"], row["no answer"], row["unstated"]) == (5, 4, 1, 1)
    assert row["accuracy, all n"].value == pytest.approx(0.4)  # e0 and e2 of five
    assert row["accuracy, scored"].value == pytest.approx(0.5)
    assert row["confidence %"].value == pytest.approx(70.0)
    # of the two that state one: confidence 0.7, accuracy 0.5
    assert row["RMS error %, all bins"] == pytest.approx(20.0)
    assert row["CAIS error %"] is None
    assert "CAIS: every answer, one that states none as 100 %" in table.note


def test_in_the_cais_variant_an_answer_that_states_nothing_is_wholly_sure():
    sure = [attempt("p", f"a{i}", confidence=0.5, measures=measures(0.0)) for i in range(100)]
    silent = [attempt("p", f"b{i}") for i in range(100)]
    (table,) = calibration_tables(evaluation(result("p", "a0"), *silent, *sure), "seen")
    row = rows_of(table)["p"]
    # the silent are the top bin, which is dropped: sqrt(100 / 200 * 0.5 ** 2) = 0.3536
    assert row["CAIS error %"] == pytest.approx(35.0)
    assert row["RMS error %, all bins"] == pytest.approx(50.0)
    assert row["unstated"] == 100


def test_where_nobody_was_asked_and_nobody_states_one_there_is_no_table():
    assert calibration_tables(evaluation(result("p", "e0"), attempt("p", "e0")), "seen") == []
