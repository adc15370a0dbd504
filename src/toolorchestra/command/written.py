"""Writing a command's table in every form that a reader may want."""

from __future__ import annotations

from pathlib import Path

from toolorchestra.report.files import replace_text
from toolorchestra.report.table import Table


def write_table(table: Table, stem: Path) -> None:
    """Writes a table as Markdown, CSV and LaTeX.

    Args:
        table: What to write.
        stem: Path of the files without their endings .md, .csv and .tex.

    Raises:
        ValueError: They cannot be written there.
    """
    forms = {".md": table.to_markdown(), ".csv": table.to_csv(), ".tex": table.to_latex()}
    for ending, text in forms.items():
        path = stem.parent / (stem.name + ending)
        try:
            replace_text(path, text)
        except OSError as error:
            raise ValueError(
                f"--out: cannot write {path} ({error.strerror}); use a folder of your own"
            ) from error
