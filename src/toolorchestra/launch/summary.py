"""The end of a sweep: one table of all its points, and one that compares those that finished."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolorchestra.launch.job.journal import FINISHED
from toolorchestra.launch.status import PointStatus
from toolorchestra.report.comparison import compare
from toolorchestra.report.metrics import read_metrics
from toolorchestra.report.recorder import METRICS_FILE
from toolorchestra.report.shown import show_table
from toolorchestra.report.table import Cell, Table
from toolorchestra.report.written import write_table

_FIGURES = {"reward": "reward/mean", "accuracy": "accuracy", "cents": "cost_cents"}
"""Columns of the table, and of a run's metrics.csv."""
LAST_STEPS = 10
"""Steps that these figures are means over."""


def points_table(folder: Path, points: Sequence[PointStatus]) -> Table:
    """How each point ended, where it writes, and how to run it again."""
    words = [set(status.point.overrides) for status in points]
    shared = set.intersection(*words)
    rows = []
    for status in points:
        figures = _last_figures(status.run_dir / METRICS_FILE)
        rows.append(
            (
                str(status.point.number),
                " ".join(word for word in status.point.overrides if word not in shared),
                status.state,
                status.step,
                status.attempts,
                *(figures.get(name) for name in _FIGURES.values()),
                status.reason,
                str(status.log.relative_to(status.run_dir.parent)),
            )
        )
    alike = " ".join(word for word in points[0].point.overrides if word in shared)
    return Table(
        title=f"Points of {folder}",
        columns=(
            "point", "overrides", "state", "step", "attempts", *_FIGURES, "reason", "log",
        ),
        rows=tuple(rows),
        note=(
            f"{f'All points: {alike}. ' if alike else ''}Figures: training, mean of the last "
            f"{LAST_STEPS} steps. Again: python -m toolorchestra.launch resubmit {folder} POINT"
        ),
    )  # fmt: skip


def tell_sweep(folder: Path, points: Sequence[PointStatus]) -> None:
    """Prints and keeps both tables."""
    show(points_table(folder, points), folder / "points")
    finished = [status.run_dir for status in points if status.state == FINISHED]
    if finished:
        tell_comparison(folder, finished)


def tell_comparison(folder: Path, run_dirs: Sequence[Path]) -> None:
    """Prints and keeps the table that compares finished runs."""
    show(compare(run_dirs), folder / "comparison")


def show(table: Table, path: Path) -> None:
    """Prints a table; keeps it as Markdown, CSV and LaTeX."""
    write_table(table, path)
    show_table(table)
    print(f"kept in {path.with_suffix('.md')}", flush=True)


def _last_figures(path: Path) -> dict[str, Cell]:
    """Means over the last steps of a run, of the columns that there are."""
    rows = read_metrics(path)[-LAST_STEPS:] if path.exists() else []
    figures: dict[str, Cell] = {}
    for name in _FIGURES.values():
        values = [row[name] for row in rows if name in row]
        if values:
            figures[name] = sum(values) / len(values)
    return figures
