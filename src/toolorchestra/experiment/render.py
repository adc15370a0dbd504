"""Writes the tables and pictures of an experiment from what is kept of its runs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from toolorchestra.experiment.declared import Experiment
from toolorchestra.experiment.draw import draw
from toolorchestra.experiment.extract import Extract, extract, read_extract, write_extract
from toolorchestra.experiment.paper import read_figures
from toolorchestra.experiment.plan import local_folder, run_file
from toolorchestra.experiment.tabulate import local_table, paper_table
from toolorchestra.report.table import Table
from toolorchestra.report.written import write_table

REAL_FOLDER = "real"
"""In an experiment's folder: what is kept of runs of the real thing."""


def render(
    experiment: Experiment, *, out: Path | None = None, stale: Collection[str] = ()
) -> list[Table]:
    """Writes table.md, table.tex and table.csv, of the local world in local/; returns the tables.

    Args:
        experiment: What was declared.
        out: Where they go in place of the experiment's folder.
        stale: Runs whose results are known to be of another config.

    Raises:
        ValueError: A file with figures is damaged.
    """
    home = experiment.home if out is None else out / experiment.name
    tables = []
    if experiment.paper:
        figures = read_figures(experiment.home / experiment.paper)
        kept = [read_extract(p) for p in sorted((experiment.home / REAL_FOLDER).glob("*.json"))]
        tables.append(paper_table(experiment, figures, kept))
        write_table(tables[-1], home / "table")
    local = local_folder(experiment, out)
    files = {name: run_file(local, name) for name in experiment.local.runs}
    found = {name: read_extract(path) for name, path in files.items() if path.exists()}
    tables.append(local_table(experiment, found, stale=stale))
    write_table(tables[-1], local / "table")
    draw(experiment, found, local / "figure.png")
    return tables


def take(experiment: Experiment, run_dir: Path, *, start_dir: Path | None) -> Path:
    """Keeps what a run of the real thing measured; returns the file.

    Args:
        experiment: Whose run it is.
        run_dir: Its folder.
        start_dir: The run of the starting policy on the same episodes, for the measure `relative`.

    Raises:
        ValueError: The run is not finished, or its options belong to no row.
    """
    kept = extract(run_dir, key="", start_dir=start_dir)
    if not any(_has(kept, options) for options in experiment.real.rows.values()):
        told = ", ".join(f"{group}={name}" for group, name in kept.choices.items())
        raise ValueError(
            f"{run_dir} belongs to no row of {experiment.name}: it was run with {told}"
        )
    named = [value for group, value in kept.choices.items() if group != "policy"]  # a path
    name = "-".join([*kept.worlds, *named]).replace("/", "_")
    path = experiment.home / REAL_FOLDER / f"{name}.json"
    write_extract(path, kept)
    return path


def _has(kept: Extract, options: dict[str, str]) -> bool:
    return all(kept.choices.get(group) == name for group, name in options.items())
