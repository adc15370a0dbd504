"""Sums what was billed, and what it would be under other schedules, by who ran what and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolorchestra.pricing.reprice import Repriced, reprice
from toolorchestra.pricing.schedule import PriceBook
from toolorchestra.report.logged import LoggedRollout
from toolorchestra.types import LedgerEntry

BILLED = "billed"
"""The column of what was charged when it was played; the others are schedules."""
NUM_RANGES = 4
"""Into so many ranges the steps of a training are gathered."""


@dataclass(slots=True)
class Sum:
    """Dollars that are known, and how many entries are not."""

    usd: float = 0.0
    num_unknown: int = 0
    lenders: dict[str, None] = field(default_factory=dict)
    """In order of appearance."""

    def add(self, cost: Repriced) -> None:
        """Takes one more entry."""
        if cost.cost_usd is None:
            self.num_unknown += 1
        else:
            self.usd += cost.cost_usd
        self.lenders |= dict.fromkeys(cost.lenders)

    def join(self, other: Sum) -> None:
        """Takes what another sum holds."""
        self.usd += other.usd
        self.num_unknown += other.num_unknown
        self.lenders |= other.lenders


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """What money is spent on."""

    kind: str
    """policy, tool, judge or user."""
    name: str = ""
    """Of a tool, as tables show it."""


@dataclass(slots=True)
class Bill:
    """The sums of some tasks, by item and then by column."""

    num_tasks: int = 0
    items: dict[Item, dict[str, Sum]] = field(default_factory=dict)

    def of(self, item: Item, column: str) -> Sum:
        """The sum of one item, made if need be."""
        return self.items.setdefault(item, {}).setdefault(column, Sum())

    def join(self, other: Bill) -> None:
        """Takes the tasks of another bill."""
        self.num_tasks += other.num_tasks
        for item, sums in other.items.items():
            for column, found in sums.items():
                self.of(item, column).join(found)

    def total(self, kinds: Sequence[str], column: str) -> Sum:
        """The sum over all items of some kinds."""
        total = Sum()
        for item, sums in self.items.items():
            if item.kind in kinds and column in sums:
                total.join(sums[column])
        return total


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Whose tasks a bill is of."""

    run: str
    policy: str
    world: str
    steps: str | None = None
    """E.g. "0-14"; None: of an evaluation."""


class Tally:
    """Reprices rollouts one by one."""

    def __init__(self, book: PriceBook, schedules: Sequence[str]) -> None:
        """Takes where prices are, and the schedules to pay by, each of which is a column."""
        self._book, self._schedules = book, tuple(dict.fromkeys(schedules))
        self._bills: dict[tuple[str, str, str], dict[int | None, Bill]] = {}
        self.num_unscored = 0
        """Rollouts that are void or unscored, and so left out."""
        self.unpriced: dict[str, dict[str, None]] = {name: {} for name in self._schedules}
        """By schedule: rows that have no price under it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """As billed, then under each schedule."""
        return (BILLED, *self._schedules)

    def take(self, run: str, logged: LoggedRollout) -> None:
        """Takes one more rollout of a run.

        Raises:
            ValueError: A usage in its ledger cannot be.
        """
        if logged.cost_usd is None:
            self.num_unscored += 1
            return
        key = (run, logged.policy, logged.world)
        bill = self._bills.setdefault(key, {}).setdefault(logged.step, Bill())
        bill.num_tasks += 1
        shown_as = {tool.name: tool.shown_as for tool in logged.episode.tools}
        for entry in logged.rollout.ledger:
            name = shown_as.get(entry.name, entry.name) if entry.kind == "tool" else ""
            self._add(bill, Item(kind=entry.kind, name=name), entry)

    def _add(self, bill: Bill, item: Item, entry: LedgerEntry) -> None:
        bill.of(item, BILLED).add(Repriced(cost_usd=entry.cost_usd))
        for schedule in self._schedules:
            cost = reprice(entry, self._book, schedule=schedule)
            bill.of(item, schedule).add(cost)
            self.unpriced[schedule] |= dict.fromkeys(cost.unpriced)

    def bills(self) -> list[tuple[Place, Bill]]:
        """One bill for each run, policy, world and range of steps, in order of appearance."""
        out = []
        for (run, policy, world), by_step in self._bills.items():
            for steps in _ranges(sorted(step for step in by_step if step is not None)):
                bill = Bill()
                for step in steps:
                    bill.join(by_step[step])
                label = f"{steps[0]}-{steps[-1]}" if len(steps) > 1 else str(steps[0])
                out.append((Place(run=run, policy=policy, world=world, steps=label), bill))
            if None in by_step:
                out.append((Place(run=run, policy=policy, world=world), by_step[None]))
        return out


def _ranges(steps: Sequence[int]) -> list[Sequence[int]]:
    """Up to NUM_RANGES pieces, as even as can be."""
    num = min(NUM_RANGES, len(steps))
    ends = [len(steps) * i // num for i in range(num + 1)] if num else []
    return [steps[low:high] for low, high in zip(ends, ends[1:], strict=False)]
