"""metrics.csv: one row a step, columns that may grow, safe to kill and to resume.

A row is written whole with its newline, so a last line without one is known to be cut. Floats are
written with all their digits: a resumed run's file equals that of a run never killed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolorchestra.report.files import replace_text

STEP = "step"


class MetricsCsv:
    """Append-only writer of one row of numbers a step."""

    def __init__(self, path: Path, *, keep_through: int = -1) -> None:
        """Open `path`, keeping the rows of earlier training that are still valid.

        Args:
            path: The CSV file; made if absent.
            keep_through: Last step whose rows stay. -1 starts afresh; a resumed run gives its
                checkpoint's step, so that no step is written twice.

        Raises:
            ValueError: If a kept file is corrupt, naming file and line.
        """
        self._path = path
        rows = read_metrics(path) if keep_through >= 0 and path.exists() else []
        self._rows = [row for row in rows if row[STEP] <= keep_through]
        self._columns = [STEP]
        for row in self._rows:
            self._columns += [name for name in row if name not in self._columns]
        self._rewrite()

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Append one row. `step` must exceed that of the last row."""
        last = self._rows[-1][STEP] if self._rows else -1
        assert step > last, f"step {step} follows step {last:g}"
        row: dict[str, float] = {STEP: step, **metrics}
        self._rows.append(row)
        new = [name for name in row if name not in self._columns]
        if new:
            self._columns += new
            self._rewrite()
            return
        with self._path.open("a", encoding="utf-8", newline="") as file:
            file.write(_to_csv([self._cells(row)]))

    def _cells(self, row: Mapping[str, float]) -> list[str]:
        return [_to_text(row[name]) if name in row else "" for name in self._columns]

    def _rewrite(self) -> None:
        lines = [self._columns, *(self._cells(row) for row in self._rows)]
        replace_text(self._path, _to_csv(lines))


def read_metrics(path: Path) -> list[dict[str, float]]:
    """Rows of a metrics file, without empty cells. A last line cut by a kill is left out.

    Raises:
        ValueError: If a line is corrupt, naming file and line.
    """
    whole, _, _ = path.read_text(encoding="utf-8", errors="replace").rpartition("\n")
    lines = list(csv.reader(io.StringIO(whole)))
    if not lines:
        return []
    columns = lines[0]
    return [_read_row(columns, cells, f"{path}:{n}") for n, cells in enumerate(lines[1:], start=2)]


def _read_row(columns: Sequence[str], cells: Sequence[str], where: str) -> dict[str, float]:
    if len(cells) != len(columns) or STEP not in columns:
        raise ValueError(
            f"{where}: {len(cells)} cells under {len(columns)} columns; mend or delete it"
        )
    try:
        return {name: _to_number(cell) for name, cell in zip(columns, cells, strict=True) if cell}
    except ValueError as error:
        raise ValueError(f"{where}: {error}; mend or delete the line") from error


def _to_number(cell: str) -> float:
    """A whole number stays an int, so that a kept row is rewritten as it was."""
    return int(cell) if cell.removeprefix("-").isdecimal() else float(cell)


def _to_text(value: float) -> str:
    return repr(value) if type(value) is int else repr(float(value))


def _to_csv(lines: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()
