"""Prints the table of README.md.

python -m benchmarks.sandbox
"""

from __future__ import annotations

import argparse
import asyncio
import os
from statistics import median

from benchmarks.sandbox.calls import Calls, Load, measure, open_side
from toolorchestra.report.table import Cell, Table

LOADS = {
    "1 caller": Load(num_concurrent=1),
    "8 callers": Load(num_concurrent=8),
    "1 caller who thinks for 0.3 s": Load(num_concurrent=1, pause_s=0.3),
}
WARM_WORKERS = 8


def main() -> None:
    """Measures both sides in turns and prints the medians of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    asked = parser.parse_args()
    rows: list[tuple[Cell, ...]] = []
    for label, load in LOADS.items():
        pairs = [asyncio.run(_pair(load, asked.seconds)) for _ in range(asked.repetitions)]
        rows.append(
            _row(f"calls a second, {label}", [(w.per_second, c.per_second) for c, w in pairs])
        )
        rows.append(_row(f"wait of a call, {label}", [(c.wait_s, w.wait_s) for c, w in pairs]))
    table = Table(
        title="Warm workers",
        columns=("figure", "ratio", "least", "most", "of", "over"),
        rows=tuple(rows),
        digits={"of": 3, "over": 3},
        note=f"{WARM_WORKERS} warm workers, {os.cpu_count()} cores; load of the machine over the "
        f"last minute: {os.getloadavg()[0]:.1f}",
    )
    print(table.to_markdown())


async def _pair(load: Load, duration_s: float) -> tuple[Calls, Calls]:
    """Without and with the pool."""
    found = []
    for warm_workers in (0, WARM_WORKERS):
        side = open_side(warm_workers=warm_workers)
        try:
            found.append(await measure(side, load, duration_s=duration_s))
        finally:
            await side.close()
    return found[0], found[1]


def _row(label: str, pairs: list[tuple[float, float]]) -> tuple[Cell, ...]:
    """A ratio above 1 speaks for the pool."""
    ratios = [of / over for of, over in pairs]
    return (
        label, median(ratios), min(ratios), max(ratios), median(of for of, _ in pairs),
        median(over for _, over in pairs),
    )  # fmt: skip


if __name__ == "__main__":
    main()
