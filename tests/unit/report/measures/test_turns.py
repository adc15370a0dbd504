import pytest
from tests.unit.report.measures.attempts import attempt, measures

from toolorchestra.report.measures.figures import draw_turn_curves
from toolorchestra.report.measures.turns import (
    DERIVED,
    SEPARATE,
    derived_points,
    separate_points,
    turns_table,
)
from toolorchestra.report.stats import wilson

# Answers in its first, second and third turn, at a cent a turn; the third is wrong.
DONE = [
    attempt("p", f"e{n}", turn_usd=(0.01,) * n, measures=measures(float(n < 3), cost_usd=0.01 * n))
    for n in (1, 2, 3)
]
CUT = attempt("p", "e4", turn_usd=(0.01,) * 4, status="max_turns", measures=measures(0.0))


def figures(points):
    return {
        point.max_turns: point.accuracy and (point.accuracy.value, point.cost_cents.value)
        for point in points
    }


def test_what_is_answered_within_a_limit_counts_and_costs_what_its_turns_cost():
    found = figures(derived_points(DONE, max_turns=50, limits=(1, 2, 3, 100)))
    assert found[1] == pytest.approx((1 / 3, 1.0))
    assert found[2] == pytest.approx((2 / 3, 5 / 3))  # 1, 2 and 2 cents
    assert found[3] == found[100] == pytest.approx((2 / 3, 2.0))


def test_beyond_its_own_limit_a_run_tells_nothing_where_that_ended_a_trial():
    found = figures(derived_points([*DONE, CUT], max_turns=4, limits=(4, 5)))
    assert found[4] == pytest.approx((0.5, 2.5)) and found[5] is None


def test_a_derived_point_is_that_of_a_run_with_this_limit():
    cut = [
        attempt("p", "e1", turn_usd=(0.01,), measures=measures(1.0, cost_usd=0.01)),
        *(
            attempt(
                "p",
                f"e{n}",
                turn_usd=(0.01,),
                status="max_turns",
                measures=measures(0.0, cost_usd=0.01),
            )
            for n in (2, 3)
        ),
    ]
    assert separate_points({1: cut}) == derived_points(DONE, max_turns=50, limits=(1,))


def test_separate_runs_are_told_by_their_limits_in_rising_order():
    points = separate_points({20: DONE, 10: [*DONE, CUT]})
    assert [point.max_turns for point in points] == [10, 20]
    assert points[0].accuracy == wilson(2, 4) and points[1].accuracy == wilson(2, 3)


def test_unscored_trials_are_left_out():
    void = attempt("p", "e9", status="void", measures=None)
    assert derived_points([*DONE, void], max_turns=50) == derived_points(DONE, max_turns=50)
    (point,) = derived_points([void], max_turns=50, limits=(10,))
    assert point.accuracy is None and point.num_scored == 0


def test_a_table_names_where_its_figures_come_from():
    points = derived_points(DONE, max_turns=50)
    for source in (DERIVED, SEPARATE):
        table = turns_table(points, source=source, world="seen", note="Simulated.")
        assert source in table.title.lower() and table.note.endswith("Simulated.")
        assert table.note.lower().startswith(source)
    assert [row[1] for row in table.rows] == [10, 20, 50, 100]


def test_curves_are_drawn_where_points_are_told(tmp_path):
    for attempts, limits in (([*DONE, CUT], (2, 4, 9)), ([CUT], (9,))):
        points = derived_points(attempts, max_turns=4, limits=limits)
        draw_turn_curves(points, tmp_path / "t.png", title="t", is_simulated=False)
        assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
