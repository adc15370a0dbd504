"""Tables on a terminal, or where their user has sent the output to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolorchestra.report.table import Table

WIDE, NARROW = 160, 120
"""Columns of a table where no terminal says how many there are."""


def show_table(table: Table, *, width: int = WIDE) -> None:
    """Prints a table as wide as the terminal is, or else as `width` says."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else width).print(table.to_rich())
