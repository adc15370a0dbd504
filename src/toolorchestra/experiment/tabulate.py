"""The tables of an experiment: the paper's figures beside ours, and those of the local world."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from toolorchestra.experiment.declared import Column, Experiment
from toolorchestra.experiment.extract import Extract
from toolorchestra.experiment.figures import Played, figure
from toolorchestra.experiment.paper import Figure
from toolorchestra.report.evaluation import POLICY, SIMULATED_NOTE
from toolorchestra.report.table import Cell, Table

MISSING_NOTE = "A dash: the paper has no figure, or ours has not been measured."


def paper_table(
    experiment: Experiment, figures: Sequence[Figure], kept: Sequence[Extract]
) -> Table:
    """The paper's rows, with ours beside each figure that a run of the real thing has measured.

    Args:
        experiment: What was declared.
        figures: The paper's, as printed.
        kept: Runs of the real thing.
    """
    has_groups = any(item.group for item in figures)
    columns = {column.name: column for column in experiment.real.columns}
    printed = {(item.place, item.column): item.value for item in figures}
    rows: list[tuple[Cell, ...]] = []
    for place, (group, row) in {item.place: (item.group, item.row) for item in figures}.items():
        runs = _runs_of(experiment.real.rows.get(place), kept)
        cells: list[Cell] = [group, row] if has_groups else [row]
        for name in dict.fromkeys(item.column for item in figures):
            cells.append(printed.get((place, name)))
            if name in columns:
                cells.append(figure(columns[name], runs))
        rows.append(tuple(cells))
    header = list(experiment.header if has_groups else experiment.header[1:])
    digits = {}
    for name in dict.fromkeys(item.column for item in figures):
        header.append(name)
        if name in columns:
            header.append(f"{name}, ours")
            digits[f"{name}, ours"] = columns[name].digits
    notes = [MISSING_NOTE, *([SIMULATED_NOTE] if any(k.is_simulated for k in kept) else [])]
    return Table(
        title=f"{experiment.title}: the paper's figures, and ours beside them",
        columns=tuple(header),
        rows=tuple(rows),
        digits=digits,
        note=" ".join(notes),
    )


def _runs_of(options: Mapping[str, str] | None, kept: Sequence[Extract]) -> list[Played]:
    """The runs that were made with these options."""
    if not options:
        return []
    return [
        Played(kept=own, policy=POLICY)
        for own in kept
        if all(own.choices.get(group) == name for group, name in options.items())
    ]


def local_table(
    experiment: Experiment, kept: Mapping[str, Extract], *, stale: Collection[str] = ()
) -> Table:
    """The local world's table: every row that was declared, a dash where its run is missing.

    Args:
        experiment: What was declared.
        kept: What is there, by name of the run.
        stale: Runs whose results are known to be of another config.
    """
    local = experiment.local
    has_groups = any(row.group for row in local.rows)
    rows: list[tuple[Cell, ...]] = []
    for row in local.rows:
        runs = [Played(kept=kept[row.run], policy=row.policy)] if row.run in kept else []
        reference = (
            Played(kept=kept[row.reference], policy=row.policy) if row.reference in kept else None
        )
        cells: list[Cell] = [row.group, row.label] if has_groups else [row.label]
        cells += [_cell(column, runs, reference) for column in local.columns]
        rows.append(tuple(cells))
    names = tuple(column.name for column in local.columns)
    missing = [name for name in local.runs if name not in kept]
    notes = [local.note.strip()]
    notes += [SIMULATED_NOTE] if any(own.is_simulated for own in kept.values()) else []
    notes += [f"Missing: {', '.join(missing)}."] if missing else []
    old = [name for name in local.runs if name in kept and name in stale]
    notes += [f"Made with another config, and to be made anew: {', '.join(old)}."] if old else []
    return Table(
        title=f"{experiment.title}: the local world",
        columns=(*(local.header if has_groups else local.header[1:]), *names),
        rows=tuple(rows),
        digits={column.name: column.digits for column in local.columns},
        note=" ".join(notes),
    )


def _cell(column: Column, runs: Sequence[Played], reference: Played | None) -> Cell:
    return figure(column, runs, reference) if runs else None
