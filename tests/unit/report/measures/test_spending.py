import pytest
from tests.unit.report.measures.attempts import attempt, evaluation, measures, rows_of

from toolorchestra.report.measures.spending import spending_tables


def test_service_and_wall_time_stand_apart_and_unscored_trials_are_left_out():
    (table,) = spending_tables(
        evaluation(
            attempt("p", "e0"),
            attempt(
                "p",
                "e1",
                measures=measures(cost_usd=0.06, latency_s=90.0, tool_counts={"a": 2, "b": 3}),
                wall_s=18.0,
                turn_usd=(0.0,) * 4,
            ),
            attempt("p", "e2", measures=None, wall_s=600.0),
            attempt("q", "e0", measures=None),
        ),
        "seen",
    )
    row = rows_of(table)["p"]
    assert row["cents"].value == pytest.approx(4.0)
    assert row["service minutes"].value == pytest.approx(1.0)  # 30 s and 90 s
    assert row["wall minutes"].value == pytest.approx(0.2)  # 6 s and 18 s
    assert row["turns"].value == pytest.approx(3.0)
    assert row["calls"].value == pytest.approx(3.0)
    assert table.rows[1] == ("q", None, None, None, None, None)


def test_without_attempts_there_is_no_table():
    assert spending_tables(evaluation(), "seen") == []
