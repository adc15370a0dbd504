"""What a run leaves behind when it ends: tables, pictures, and the summary that says it is done."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolorchestra.codec import to_json
from toolorchestra.report.comparison import SUMMARY
from toolorchestra.report.evaluation import (
    ASIDES,
    Evaluation,
    aside_cents,
    breakdown_table,
    calls_table,
    closed,
    comparison_table,
    goal_tables,
    main_table,
    points,
)
from toolorchestra.report.figures import draw_accuracy_over_cost, draw_reward_curve
from toolorchestra.report.files import replace_text
from toolorchestra.report.metrics import read_metrics
from toolorchestra.report.recorder import METRICS_FILE
from toolorchestra.report.stats import Estimate, bootstrap_mean
from toolorchestra.report.table import Table

CURVES = {"reward/mean": "reward", "accuracy": "accuracy", "utility": "utility"}
RESULTS_FILE, RESULTS_LINES = "results.md", "results.jsonl"


def write_pictures(
    run_dir: Path,
    evaluation: Evaluation | None,
    *,
    title: str,
    frontier: Sequence[tuple[float, float]],
    is_simulated: bool,
) -> None:
    """Draws the reward curve of what was trained, and accuracy over cost of what was evaluated."""
    metrics = run_dir / METRICS_FILE
    if metrics.exists() and read_metrics(metrics):
        draw_reward_curve(
            metrics,
            run_dir / "reward_curve.png",
            series=CURVES,
            title=title,
            is_simulated=is_simulated,
        )
    if evaluation is not None:
        draw_accuracy_over_cost(
            points(evaluation, evaluation.worlds[0]),
            run_dir / "accuracy_over_cost.png",
            frontier=frontier,
            title=f"{title}: held-out episodes",
            is_simulated=is_simulated,
        )


def write_tables(run_dir: Path, evaluation: Evaluation, shown_as: Mapping[str, str]) -> list[Table]:
    """Writes all tables as Markdown, CSV and JSON, and every result; returns the main tables."""
    main = [
        table
        for world in evaluation.worlds
        for table in (main_table(evaluation, world), *goal_tables(evaluation, world))
    ]
    main.append(comparison_table(evaluation))
    details = [
        table
        for world in evaluation.worlds
        for table in (
            breakdown_table(evaluation, world, "skill"),
            breakdown_table(evaluation, world, "preference"),
            calls_table(evaluation, world, dict(shown_as)),
        )
    ]
    tables = [*main, *details]
    replace_text(run_dir / RESULTS_FILE, "\n".join(table.to_markdown() for table in tables))
    for number, table in enumerate(tables, start=1):
        replace_text(run_dir / "results" / f"{number:02d}.csv", table.to_csv())
    content = "[\n" + ",\n".join(table.to_json().strip() for table in tables) + "\n]\n"
    replace_text(run_dir / "results.json", content)
    lines = (json.dumps(to_json(result)) for result in evaluation.results)
    replace_text(run_dir / RESULTS_LINES, "\n".join(lines) + "\n")
    return main


def write_summary(
    run_dir: Path,
    overrides: Mapping[str, Any],
    evaluation: Evaluation | None,
    *,
    seconds: float,
) -> None:
    """Writes what a sweep compares. A run with this file is done."""
    metrics: dict[str, Any] = {"seconds": round(seconds, 1)}
    if evaluation is not None:
        for world in evaluation.worlds:
            metrics |= _world_figures(evaluation, world)
    text = json.dumps({"config": dict(overrides), "metrics": metrics}, indent=1)
    replace_text(run_dir / SUMMARY, text + "\n")


def _world_figures(evaluation: Evaluation, world: str) -> dict[str, Any]:
    scored = [r for r in evaluation.of(evaluation.subject, world) if r.utility is not None]
    figures = {
        f"{world} utility": _mean([r.utility or 0.0 for r in scored]),
        f"{world} accuracy": _mean([r.is_solved or 0.0 for r in scored]),
        f"{world} cents": _mean([100 * (r.cost_usd or 0.0) for r in scored]),
    }
    for aside in ASIDES:
        cents = aside_cents(evaluation.subject, evaluation.of(evaluation.subject, world), aside)
        if cents is not None and cents.value > 0:
            figures[f"{world} {aside} cents"] = _figure(cents)
    if evaluation.start is not None:
        figures[f"{world} closed"] = _figure(closed(evaluation, world))
    return figures


def _mean(values: Sequence[float]) -> Any:
    return _figure(bootstrap_mean(values) if values else None)


def _figure(estimate: Estimate | None) -> dict[str, float] | float | None:
    """For JSON, which has no infinity: an interval without bounds is left out."""
    if estimate is None or not math.isfinite(estimate.value):
        return None
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return estimate.value
