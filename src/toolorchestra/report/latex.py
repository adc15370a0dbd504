"""A table in LaTeX, ruled by booktabs."""

from __future__ import annotations

from collections.abc import Sequence

SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "→": r"$\to$",
    "²": r"\textsuperscript{2}",
    "τ": r"$\tau$",
    "†": r"\textsuperscript{\textdagger}",
    "‡": r"\textsuperscript{\textdaggerdbl}",
    "∗": r"\textsuperscript{*}",
    "\n": " ",
}
"""Signs that mean something to LaTeX, or that not every font has, and how each is written."""
_ESCAPES = str.maketrans(SIGNS)


def escape(text: str) -> str:
    """`text` as LaTeX prints it, character by character."""
    return text.translate(_ESCAPES)


def latex_table(
    *,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_numeric: Sequence[bool],
    note: str = "",
) -> str:
    """A floating table that needs the package booktabs.

    Args:
        title: Its caption.
        columns: Heads.
        rows: Cells as readers see them, as many as there are columns.
        is_numeric: Which columns stand to the right.
        note: A paragraph below the table; empty for none.
    """
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(title)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in is_numeric)}}}",
        r"\toprule",
        _line(columns),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if note:
        lines += ["", r"\smallskip", rf"\footnotesize {escape(note)}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _line(cells: Sequence[str]) -> str:
    texts = [escape(cell) for cell in cells]
    # after the end of a line these two would be read as its argument
    first = f"{{}}{texts[0]}" if texts[0].startswith(("[", "*")) else texts[0]
    return " & ".join([first, *texts[1:]]) + r" \\"
