"""One table over the finished runs of a sweep: what differed, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.codec import from_json
from toolorchestra.report.stats import Estimate
from toolorchestra.report.table import Cell, Table

SUMMARY = "summary.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What a finished run says of itself."""

    config: dict[str, Any]
    """The overrides that made the run, e.g. {"toolset": "unseen", "seed": 1}."""
    metrics: dict[str, Any]
    """Final figures: numbers, or objects with value, low and high."""


def read_summary(run_dir: Path) -> Summary:
    """Read `summary.json` of a finished run.

    Raises:
        ValueError: If the run has none or it is corrupt, naming the file.
    """
    path = run_dir / SUMMARY
    if not path.exists():
        raise ValueError(f"{path} does not exist: the run has not finished")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Summary(config=dict(content["config"]), metrics=dict(content["metrics"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no run summary ({error!r}); run it again") from error


def compare(run_dirs: Sequence[Path], *, metrics: Sequence[str] | None = None) -> Table:
    """Make the comparison table of a sweep.

    Args:
        run_dirs: Folders of finished runs, one row each, in this order.
        metrics: Which figures to show; None: all, in the order in which they first appear.

    Returns:
        A table whose first columns are the overrides that differ between the runs. Those that all
        runs share are in the note.

    Raises:
        ValueError: If there are no runs or one has no valid summary.
    """
    if not run_dirs:
        raise ValueError("there are no runs to compare")
    summaries = [read_summary(run_dir) for run_dir in run_dirs]
    keys = _in_order(key for summary in summaries for key in summary.config)
    varied = [key for key in keys if len({repr(s.config.get(key)) for s in summaries}) > 1]
    shared = [f"{key}={summaries[0].config[key]}" for key in keys if key not in varied]
    if metrics is None:
        metrics = _in_order(name for summary in summaries for name in summary.metrics)
    rows = []
    for run_dir, summary in zip(run_dirs, summaries, strict=True):
        settings: list[Cell] = [_setting(summary.config.get(key)) for key in varied]
        figures = [_figure(summary.metrics.get(name)) for name in metrics]
        rows.append((run_dir.name, *settings, *figures))
    return Table(
        title=f"Comparison of {len(run_dirs)} runs",
        columns=("run", *varied, *metrics),
        rows=tuple(rows),
        note=f"All runs: {', '.join(shared)}." if shared else "",
    )


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _setting(value: Any) -> str | None:
    return None if value is None else str(value)


def _figure(value: Any) -> Cell:
    if isinstance(value, dict):
        return from_json(Estimate, value)
    assert value is None or isinstance(value, str | int | float), f"no figure: {value!r}"
    return value
