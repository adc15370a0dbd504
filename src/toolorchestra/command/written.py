"""Keeping a command's table where its user wants it."""

from __future__ import annotations

from pathlib import Path

from toolorchestra.report.table import Table
from toolorchestra.report.written import write_table


def keep_table(table: Table, stem: Path) -> None:
    """Writes a table as Markdown, CSV and LaTeX; see `write_table`.

    Raises:
        ValueError: They cannot be written there.
    """
    try:
        write_table(table, stem)
    except OSError as error:
        raise ValueError(
            f"--out: cannot write {stem} ({error.strerror}); use a folder of your own"
        ) from error
