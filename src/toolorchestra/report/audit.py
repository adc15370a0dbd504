"""Whether the ledger adds up: costs recomputed from the log equal those that were used."""

from __future__ import annotations

import math

from toolorchestra.pricing.cost import cost_usd
from toolorchestra.report.logged import LoggedRollout
from toolorchestra.reward.measures import RUN_KINDS
from toolorchestra.types import LedgerEntry, Price

MAX_DIFFERENCE_USD = 1e-9
"""Figures are summed in another order: what is larger is no rounding."""


class Audit:
    """Recomputes every entry under the price that its episode recorded, and every rollout's sum."""

    def __init__(self) -> None:
        self.largest_usd = 0.0
        """The largest difference found, of an entry or of a rollout's cost."""
        self.where = ""
        self.num_entries = self.num_rollouts = 0
        self.num_unchecked = 0
        """Entries of judges and users, whose prices are no part of an episode."""

    @property
    def is_right(self) -> bool:
        """Whether nothing differs by more than rounding."""
        return self.largest_usd <= MAX_DIFFERENCE_USD

    def check(self, logged: LoggedRollout) -> None:
        """Takes one more rollout.

        Raises:
            ValueError: Its ledger names a tool that was not offered, or a usage that cannot be.
        """
        costs = []
        for number, entry in enumerate(logged.rollout.ledger):
            where = f"{logged.where}, ledger entry {number} ({entry.name})"
            if entry.kind not in RUN_KINDS:
                self.num_unchecked += 1
                continue
            try:
                costs.append(cost_usd(entry.usage, _recorded_price(logged, entry)))
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from error
            self.num_entries += 1
            self._compare(entry.cost_usd, costs[-1], where)
        if logged.cost_usd is not None:
            self.num_rollouts += 1
            self._compare(logged.cost_usd, math.fsum(costs), logged.where)

    def told(self) -> str:
        """The outcome in a sentence."""
        skipped = (
            f"; {self.num_unchecked} entries of judges and users are not checked, as episodes do "
            "not record their prices"
            if self.num_unchecked
            else ""
        )
        found = (
            f"{self.num_entries} ledger entries and {self.num_rollouts} rollout costs recomputed "
            f"under the recorded prices: largest difference {self.largest_usd:.3g} USD"
        )
        if self.is_right:
            return f"{found}{skipped}"
        return f"{found}, at {self.where}{skipped}"

    def _compare(self, recorded_usd: float, recomputed_usd: float, where: str) -> None:
        difference = abs(recorded_usd - recomputed_usd)
        if difference > self.largest_usd:
            self.largest_usd, self.where = difference, where


def _recorded_price(logged: LoggedRollout, entry: LedgerEntry) -> Price:
    if entry.kind == "policy":
        return logged.episode.policy_price
    prices = {tool.name: tool.price for tool in logged.episode.tools}
    if entry.name not in prices:
        raise ValueError(f"the episode offers no tool {entry.name!r}, only {', '.join(prices)}")
    return prices[entry.name]
