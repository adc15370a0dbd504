"""A table in every form that is kept: to read, to reckon with, and to print."""

from __future__ import annotations

from pathlib import Path

from toolorchestra.report.files import replace_text
from toolorchestra.report.table import Table


def write_table(table: Table, stem: Path) -> None:
    """Writes a table as Markdown, CSV and LaTeX.

    Args:
        table: What to write.
        stem: Path of the files without their endings .md, .csv and .tex.
    """
    forms = {".md": table.to_markdown(), ".csv": table.to_csv(), ".tex": table.to_latex()}
    for ending, text in forms.items():
        replace_text(stem.with_name(stem.name + ending), text)
