"""The tables at the end of a sweep: a row for each point, a note on what all share, and files."""

from __future__ import annotations

import csv
import json

import pytest
from tests.unit.launch.scene import make_sweep

from toolorchestra.launch.status import PointStatus
from toolorchestra.launch.summary import LAST_STEPS, points_table, tell_sweep
from toolorchestra.launch.sweep import run_dir_of


def status(folder, point, state="finished", **changes):
    fields = {"point": point, "run_dir": run_dir_of(folder, point), "state": state, "step": 20,
              "attempts": 1}  # fmt: skip
    return PointStatus(**(fields | changes))


@pytest.fixture
def points(tmp_path):
    """Two points of a sweep: one finished, one failed."""
    sweep = make_sweep(tmp_path, ("pricing=alt", "seed=1"), ("pricing=alt", "seed=2"))
    first, second = sweep.points
    return [
        status(tmp_path, first),
        status(tmp_path, second, "failed", step=3, attempts=2, reason="error: no disk"),
    ]


def write_metrics(run_dir, *rows):
    columns = list(rows[0])
    with (run_dir / "metrics.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([columns, *([row[name] for name in columns] for row in rows)])


def test_each_point_is_a_row_with_what_differs_and_the_note_has_what_all_share(points, tmp_path):
    table = points_table(tmp_path, points)
    assert table.title == f"Points of {tmp_path}"
    assert table.columns == (
        "point", "overrides", "state", "step", "attempts", "reward", "accuracy", "cents", "reason",
        "log",
    )  # fmt: skip
    assert table.rows == (
        ("0", "seed=1", "finished", 20, 1, None, None, None, "", "0/job/log.txt"),
        ("1", "seed=2", "failed", 3, 2, None, None, None, "error: no disk", "1/job/log.txt"),
    )
    assert table.note == (
        f"All points: pricing=alt. Figures: training, mean of the last {LAST_STEPS} steps. "
        f"Again: python -m toolorchestra.launch resubmit {tmp_path} POINT"
    )


def test_points_that_share_nothing_have_no_such_note_and_one_alone_shares_all_with_itself(
    tmp_path, points
):
    sweep = make_sweep(tmp_path / "s", ("a=1",), ())
    table = points_table(tmp_path, [status(tmp_path / "s", point) for point in sweep.points])
    assert [row[1] for row in table.rows] == ["a=1", ""]
    assert table.note.startswith("Figures: ")
    alone = points_table(tmp_path, points[:1])
    assert alone.rows[0][1] == ""
    assert alone.note.startswith("All points: pricing=alt seed=1. Figures: ")


def test_figures_are_means_over_the_last_steps_that_have_them(points, tmp_path):
    # accuracy of steps 2 to 11: (2 + ... + 11) / 10; rewards of 10 and 11: -0.5 and 1
    rows = [{"step": n, "accuracy": float(n), "reward/mean": "", "other": 1.0} for n in range(12)]
    rows[10]["reward/mean"], rows[11]["reward/mean"] = -0.5, 1.0
    write_metrics(points[0].run_dir, *rows)
    table = points_table(tmp_path, points)
    assert table.rows[0][5:8] == (0.25, 6.5, None)
    assert table.rows[1][5:8] == (None, None, None)


def test_a_run_of_fewer_steps_has_the_mean_of_those_it_has(points, tmp_path):
    write_metrics(points[0].run_dir, {"step": 0, "cost_cents": 2.0}, {"step": 1, "cost_cents": 3.0})
    assert points_table(tmp_path, points).rows[0][7] == 2.5


def test_both_tables_are_kept_and_printed_and_only_finished_points_are_compared(
    points, tmp_path, capsys
):
    summary = {"config": {"seed": 1}, "metrics": {"utility": 0.25}}
    (points[0].run_dir / "summary.json").write_text(json.dumps(summary))
    tell_sweep(tmp_path, points)
    told = capsys.readouterr().out
    assert f"kept in {tmp_path}/points.md" in told and "Comparison of 1" in told
    rows = list(csv.DictReader((tmp_path / "points.csv").open()))
    assert [(row["state"], row["attempts"], row["reason"]) for row in rows] == [
        ("finished", "1", ""), ("failed", "2", "error: no disk"),
    ]  # fmt: skip
    assert "| seed=2 | failed | 3 |" in (tmp_path / "points.md").read_text()
    assert "0.25" in (tmp_path / "comparison.md").read_text()


def test_where_no_point_has_finished_nothing_is_compared(points, tmp_path):
    tell_sweep(tmp_path, points[1:])
    assert (tmp_path / "points.md").exists()
    assert not (tmp_path / "comparison.md").exists()
