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
from toolorchestra.report.measures.calibration import calibration_tables
from toolorchestra.report.measures.figures import draw_call_shares, draw_turn_curves
from toolorchestra.report.measures.outcomes import outcomes_table
from toolorchestra.report.measures.passes import pass_tables
from toolorchestra.report.measures.preference import preference_table
from toolorchestra.report.measures.shares import call_shares, shares_table
from toolorchestra.report.measures.spending import spending_tables
from toolorchestra.report.measures.turns import (
    DERIVED,
    LIMITS,
    TurnPoint,
    derived_points,
    turns_table,
)
from toolorchestra.report.metrics import read_metrics
from toolorchestra.report.recorder import METRICS_FILE
from toolorchestra.report.stats import Estimate, bootstrap_mean
from toolorchestra.report.table import Table

CURVES = {"reward/mean": "reward", "accuracy": "accuracy", "utility": "utility"}
RESULTS_FILE, RESULTS_LINES, FRONTIER_FILE = "results.md", "results.jsonl", "frontier.json"


def write_pictures(
    run_dir: Path,
    evaluation: Evaluation | None,
    *,
    title: str,
    frontier: Sequence[tuple[float, float]],
    is_simulated: bool,
    shown_as: Mapping[str, str],
) -> None:
    """Draws the reward curve of what was trained, and what the evaluated policies cost and call."""
    metrics = run_dir / METRICS_FILE
    if metrics.exists() and read_metrics(metrics):
        draw_reward_curve(
            metrics,
            run_dir / "reward_curve.png",
            series=CURVES,
            title=title,
            is_simulated=is_simulated,
        )
    if frontier:
        points_kept = [{"cents": cents, "accuracy": accuracy} for cents, accuracy in frontier]
        replace_text(run_dir / FRONTIER_FILE, json.dumps(points_kept, indent=1) + "\n")
    if evaluation is not None:
        draw_accuracy_over_cost(
            points(evaluation, evaluation.worlds[0]),
            run_dir / "accuracy_over_cost.png",
            frontier=frontier,
            title=f"{title}: held-out episodes",
            is_simulated=is_simulated,
        )
        _write_measures(run_dir, evaluation, shown_as, title=title, is_simulated=is_simulated)


def _write_measures(
    run_dir: Path,
    evaluation: Evaluation,
    shown_as: Mapping[str, str],
    *,
    title: str,
    is_simulated: bool,
) -> None:
    """Which tools are called in the first world, and accuracy over cost by turns where told."""
    world = evaluation.worlds[0]
    draw_call_shares(
        call_shares(evaluation, world),
        run_dir / "call_shares.png",
        shown_as=shown_as,
        title=f"{title}: calls on held-out episodes",
        is_simulated=is_simulated,
    )
    if derived := derived_turns(evaluation, world):
        draw_turn_curves(
            derived,
            run_dir / "accuracy_by_turns.png",
            title=f"{title}: by turns allowed ({DERIVED})",
            is_simulated=is_simulated,
        )


def write_tables(run_dir: Path, evaluation: Evaluation, shown_as: Mapping[str, str]) -> list[Table]:
    """Writes every result, and all tables in every form; returns the main tables."""
    main = [
        table
        for world in evaluation.worlds
        for table in (
            main_table(evaluation, world),
            *goal_tables(evaluation, world),
            *pass_tables(evaluation, world),
            *calibration_tables(evaluation, world),
        )
    ]
    if len(evaluation.policies) > 1:
        main.append(comparison_table(evaluation))
    details = [
        table
        for world in evaluation.worlds
        for table in (
            breakdown_table(evaluation, world, "skill"),
            breakdown_table(evaluation, world, "preference"),
            calls_table(evaluation, world, dict(shown_as)),
            *_measures(evaluation, world, shown_as),
        )
    ]
    tables = [*main, *details]
    replace_text(run_dir / RESULTS_FILE, "\n".join(table.to_markdown() for table in tables))
    for number, table in enumerate(tables, start=1):
        replace_text(run_dir / "results" / f"{number:02d}.csv", table.to_csv())
        replace_text(run_dir / "results" / f"{number:02d}.tex", table.to_latex())
    content = "[\n" + ",\n".join(table.to_json().strip() for table in tables) + "\n]\n"
    replace_text(run_dir / "results.json", content)
    lines = (json.dumps(to_json(result)) for result in evaluation.results)
    replace_text(run_dir / RESULTS_LINES, "\n".join(lines) + "\n")
    return main


def _measures(evaluation: Evaluation, world: str, shown_as: Mapping[str, str]) -> list[Table]:
    """What there is beside the main tables, where it applies."""
    tables = [
        shares_table(evaluation, world, call_shares(evaluation, world), shown_as),
        outcomes_table(evaluation, world),
        *spending_tables(evaluation, world),
    ]
    if evaluation.attempts:
        tables.append(preference_table(evaluation, world))
    if derived := derived_turns(evaluation, world):
        tables.append(turns_table(derived, source=DERIVED, world=world, note=evaluation.note))
    return tables


def derived_turns(evaluation: Evaluation, world: str) -> list[TurnPoint]:
    """Figure 6 from a greedy run in which limits would tell: some trial took more than the least.

    Empty for any other, of which every limit would give the same, or nothing certain.
    """
    attempts = [item for item in evaluation.attempts if item.world == world]
    if not evaluation.is_greedy or all(item.num_turns <= LIMITS[0] for item in attempts):
        return []
    return derived_points(attempts, max_turns=evaluation.max_turns)


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
    episodes = [r.episode for r in scored]
    figures = {
        f"{world} utility": _mean([r.utility or 0.0 for r in scored], episodes),
        f"{world} accuracy": _mean([r.is_solved or 0.0 for r in scored], episodes),
        f"{world} cents": _mean([100 * (r.cost_usd or 0.0) for r in scored], episodes),
    }
    for aside in ASIDES:
        cents = aside_cents(evaluation.subject, evaluation.of(evaluation.subject, world), aside)
        if cents is not None and cents.value > 0:
            figures[f"{world} {aside} cents"] = _figure(cents)
    if evaluation.start is not None:
        figures[f"{world} closed"] = _figure(closed(evaluation, world))
    return figures


def _mean(values: Sequence[float], episodes: Sequence[str]) -> Any:
    return _figure(bootstrap_mean(values, clusters=episodes) if values else None)


def _figure(estimate: Estimate | None) -> dict[str, float] | float | None:
    """For JSON, which has no infinity: an interval without bounds is left out."""
    if estimate is None or not math.isfinite(estimate.value):
        return None
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return estimate.value
