"""The table of `README.md`: medians over repetitions, between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from benchmarks.rollout.jobs import Figure, Measured

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def render(figures: Sequence[Figure], repetitions: Sequence[Measured], notes: Sequence[str]) -> str:
    """The table, one row a figure, and what there is to say of it.

    A ratio is taken within each repetition; shown are the median of the ratios with their range,
    and the medians of both sides.
    """
    lines = ["| figure | ratio | range | of | over |", "| --- | --: | --: | --: | --: |"]
    for figure in figures:
        pairs = [figure.over(measured) for measured in repetitions]
        ratios = [one / other for one, other in pairs]
        sides = [median(side) for side in zip(*pairs, strict=True)]
        spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
        shown = " | ".join(f"{_short(side)} {figure.unit}".strip() for side in sides)
        lines.append(f"| {figure.label} | **{median(ratios):.2f}** | {spread} | {shown} |")
    return "\n".join([*lines, "", *(f"- {note}" for note in notes)])


def insert(text: str, table: str) -> str:
    """Puts a table between the marks of a text.

    Raises:
        ValueError: If the marks are not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"no place for the table: {BEGIN} and {END} are needed")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
