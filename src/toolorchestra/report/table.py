"""A small table with one set of rows, for the terminal and as Markdown, LaTeX, CSV and JSON.

Readers get "0.74 ± 0.03"; files for programs keep the value and both ends of its interval.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolorchestra.report.stats import Estimate

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Cell = str | int | float | Estimate | None

ABSENT = "–"

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"\ensuremath{\pm}", "–": "--", "−": r"\ensuremath{-}", "∗": r"\ensuremath{^{*}}",
    "‡": r"\ensuremath{^{\ddagger}}",
    "†": r"\ensuremath{^{\dagger}}", "τ": r"\ensuremath{\tau}", "²": r"\ensuremath{^2}", "\n": " ",
}  # fmt: skip
"""What LaTeX reads for a character that means something to it, or that its fonts may lack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rows under named columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: Mapping[str, int] = field(default_factory=dict)
    """Digits after the point, by column; 2 where not given."""
    note: str = ""
    """A line below the table, e.g. that names with "sim/" are simulated."""

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), f"{len(row)} cells, {len(self.columns)} columns"

    def to_markdown(self) -> str:
        """The table as GitHub Markdown: bold title, rows, note."""
        lines = [self.columns, tuple("--:" if r else "---" for r in self._is_numeric())]
        lines += [tuple(map(_escape, cells)) for cells in self._texts()]
        parts = [f"**{self.title}**", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
        return "\n\n".join(parts + ([self.note] if self.note else [])) + "\n"

    def to_latex(self) -> str:
        """The table as a LaTeX float; needs the package booktabs."""
        layout = "".join("r" if is_numeric else "l" for is_numeric in self._is_numeric())
        lines = [" & ".join(map(_latex, cells)) + r" \\" for cells in self._texts()]
        header = " & ".join(map(_latex, self.columns)) + r" \\"
        parts = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{layout}}}",
            *(r"\toprule", header, r"\midrule", *lines, r"\bottomrule"),
            r"\end{tabular}",
            *([rf"\par\smallskip\footnotesize {_latex(self.note)}"] if self.note else []),
            r"\end{table}",
        ]
        return "\n".join(parts) + "\n"

    def to_csv(self) -> str:
        """The table with all digits; an estimate fills the columns x, x_low and x_high."""
        widths = [any(isinstance(row[i], Estimate) for row in self.rows) for i in self._indices()]
        header: list[str] = []
        for name, is_wide in zip(self.columns, widths, strict=True):
            header += [name, f"{name}_low", f"{name}_high"] if is_wide else [name]
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(header)
        for row in self.rows:
            cells: list[Any] = []
            for cell, is_wide in zip(row, widths, strict=True):
                cells += _spread(cell) if is_wide else [cell]
            writer.writerow(cells)
        return buffer.getvalue()

    def to_json(self) -> str:
        """The table as JSON: title, note, and rows as objects; null is absent or infinite."""
        rows = [
            {name: _plain(cell) for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        content = {"title": self.title, "note": self.note, "rows": rows}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

    def to_rich(self) -> RichTable:
        """The table for `rich.print`."""
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(title=self.title, caption=self.note or None, title_justify="left")
        for name, is_numeric in zip(self.columns, self._is_numeric(), strict=True):
            table.add_column(Text(name), justify="right" if is_numeric else "left")
        for cells in self._texts():
            table.add_row(*map(Text, cells))
        return table

    def _indices(self) -> range:
        return range(len(self.columns))

    def _is_numeric(self) -> list[bool]:
        return [not any(isinstance(row[i], str) for row in self.rows) for i in self._indices()]

    def _texts(self) -> list[list[str]]:
        digits = [self.digits.get(name, 2) for name in self.columns]
        return [[to_text(c, d) for c, d in zip(row, digits, strict=True)] for row in self.rows]


def to_text(cell: Cell, digits: int = 2) -> str:
    """A cell for readers. The ± of an estimate is the longer arm of its interval."""
    if cell is None:
        return ABSENT
    if isinstance(cell, Estimate):
        arm = max(cell.high - cell.value, cell.value - cell.low)
        return f"{to_text(cell.value, digits)} ± {arm:.{digits}f}"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}" if math.isfinite(cell) else ABSENT
    return str(cell)


def _spread(cell: Cell) -> list[Any]:
    if isinstance(cell, Estimate):
        return [cell.value, cell.low, cell.high]
    return [cell, None, None]


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Estimate):
        return {"value": _plain(cell.value), "low": _plain(cell.low), "high": _plain(cell.high)}
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
