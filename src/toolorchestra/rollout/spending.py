"""What a run has really paid, and the limit at which it stops.

Only calls that were sent to a provider count: a simulated expert's price is no money.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from toolorchestra.types import LedgerEntry

SPENT_FILE = "spent.json"
"""In a run's folder: what it has paid so far, over all attempts."""


class BudgetSpent(ValueError):
    """The run has paid as much as it may."""


class Spending:
    """The sum of one run, kept in its folder."""

    def __init__(self, limit_usd: float | None = None, *, run_dir: Path | None = None) -> None:
        """Goes on from what the run had paid before.

        Args:
            limit_usd: What the run may pay; None: anything.
            run_dir: Where the sum is kept; None: nowhere.
        """
        self._limit_usd = limit_usd
        self._path = None if run_dir is None else run_dir / SPENT_FILE
        self.spent_usd = 0.0
        if self._path is not None and self._path.exists():
            self.spent_usd = float(json.loads(self._path.read_text())["spent_usd"])

    @property
    def is_over(self) -> bool:
        """Whether no more may be paid."""
        return self._limit_usd is not None and self.spent_usd >= self._limit_usd

    def add(self, entries: Iterable[LedgerEntry]) -> None:
        """Counts what was asked of providers among some entries of a ledger."""
        paid = sum(entry.cost_usd for entry in entries if entry.usage.num_requests)
        if paid:
            self.spent_usd += paid
            self._keep()

    def check(self) -> None:
        """To be called where the run can be left without loss.

        Raises:
            BudgetSpent: It may pay no more.
        """
        if self.is_over:
            raise BudgetSpent(
                f"max_cost_usd: ${self.spent_usd:.2f} are spent of ${self._limit_usd:.2f}; "
                "a larger one and resume=auto go on with the run"
            )

    def _keep(self) -> None:
        if self._path is not None:
            aside = self._path.with_suffix(".part")
            aside.write_text(json.dumps({"spent_usd": self.spent_usd}) + "\n")
            os.replace(aside, self._path)
