"""The paper's figures, as they are printed there, each with its source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FIELDS = ("group", "row", "column", "value", "source")


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One figure of the paper."""

    group: str
    """What several rows have in common, e.g. "Basic tools"; may be empty."""
    row: str
    column: str
    value: str
    """As it is printed, marks included; a dash where the paper has none."""
    source: str
    """Table, row and column, or the section whose text says so."""

    @property
    def place(self) -> str:
        """The row by its full name."""
        return f"{self.group} / {self.row}" if self.group else self.row


def read_figures(path: Path) -> list[Figure]:
    """Reads figures in the order of the file.

    Raises:
        ValueError: The file is no such table, or a figure has no source; names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from error
    lines = csv.DictReader(text.splitlines())
    if tuple(lines.fieldnames or ()) != FIELDS:
        raise ValueError(f"{path}: the first line is not allowed; use {','.join(FIELDS)}")
    figures = []
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines, start=2):
        if None in line or None in line.values():
            raise ValueError(f"{path}:{number}: {len(FIELDS)} fields are needed")
        figure = Figure(**line)
        for key in ("row", "column", "value", "source"):
            if not getattr(figure, key).strip():
                raise ValueError(f"{path}:{number}: {key}: nothing is not allowed; say what it is")
        if (figure.place, figure.column) in seen:
            raise ValueError(f"{path}:{number}: {figure.place}, {figure.column} was given before")
        seen.add((figure.place, figure.column))
        figures.append(figure)
    return figures
