"""Prints the table of README.md.

python -m benchmarks.domain
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.domain.calls import Sides, calls_per_second, open_sides
from toolorchestra.report.table import Cell, Table

DOMAINS = ("library", "clinic")


def main() -> None:
    """Measures both sides in turns and prints the medians of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=30, help="of each domain, spread over all")
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in DOMAINS:
            sides = open_sides(name, Path(folder) / name)
            ids = list(sides.trusted.tasks)
            chosen = ids[:: max(1, len(ids) // asked.tasks)]
            _pair(sides, chosen)  # the first replay finds nothing warm
            rows.append(_row(name, [_pair(sides, chosen) for _ in range(asked.repetitions)]))
    table = Table(
        title="Calls of a domain's functions",
        columns=("figure", "ratio", "least", "most", "of", "over"),
        rows=tuple(rows),
        digits={"ratio": 4, "least": 4, "most": 4, "of": 3, "over": 3},
        note=f"{os.cpu_count()} cores; load of the machine over the last minute: "
        f"{os.getloadavg()[0]:.1f}",
    )
    print(table.to_markdown())


def _pair(sides: Sides, task_ids: list[str]) -> tuple[float, float]:
    """In the sandbox, and here."""
    untrusted = calls_per_second(sides, sides.untrusted, task_ids)
    return untrusted, calls_per_second(sides, sides.trusted, task_ids)


def _row(name: str, pairs: list[tuple[float, float]]) -> tuple[Cell, ...]:
    """What the sandbox leaves of the speed."""
    ratios = [of / over for of, over in pairs]
    return (
        f"calls a second, {name}", median(ratios), min(ratios), max(ratios),
        median(of for of, _ in pairs), median(over for _, over in pairs),
    )  # fmt: skip


if __name__ == "__main__":
    main()
