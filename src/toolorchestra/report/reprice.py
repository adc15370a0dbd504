"""The tables of a repricing: cents a task as billed, and under each schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolorchestra.report.evaluation import SIMULATED_NOTE
from toolorchestra.report.table import Cell, Table
from toolorchestra.report.tally import BILLED, Bill, Item, Place, Sum, Tally
from toolorchestra.reward.measures import RUN_KINDS

NOT_UNSEEN = (
    "The rollouts stay as they were played: prices were shown to the policy, so this is "
    "re-pricing, not a test under unseen pricing."
)
ALL, TOOLS = "all", "tools"
ROWS = {ALL: RUN_KINDS, "policy": ("policy",), TOOLS: ("tool",)}
"""Sums over kinds; "all" is what the policy is answerable for, as in every other table."""
ASIDE = ("judge", "user")
DIGITS = 4


def summary_table(tally: Tally, versions: Mapping[str, str]) -> Table:
    """One row for each policy, world and range of steps: all that the policy caused.

    Args:
        tally: Of all rollouts.
        versions: Of the schedules, by name.
    """
    bills = tally.bills()
    places = _place_columns(bills)
    rows = []
    for place, bill in bills:
        sums = [bill.total(RUN_KINDS, column) for column in tally.columns]
        cells = (_cell(found, bill.num_tasks) for found in sums)
        rows.append((*_place(place, places), bill.num_tasks, *cells))
    return Table(
        title="Cents a task, policy and tools",
        columns=(*places, "tasks", *tally.columns),
        rows=tuple(rows),
        digits=dict.fromkeys(tally.columns, DIGITS),
        note=_note(tally, bills, versions),
    )


def split_table(tally: Tally, versions: Mapping[str, str]) -> Table:
    """The same by what was paid for: own tokens, each tool, and, beside them, judge and user."""
    bills = tally.bills()
    places = _place_columns(bills)
    rows = [
        (*_place(place, places), what, *(_cell(s, bill.num_tasks) for s in sums))
        for place, bill in bills
        for what, sums in _lines(bill, tally.columns)
    ]
    return Table(
        title="Cents a task, by what was paid for",
        columns=(*places, "for", *tally.columns),
        rows=tuple(rows),
        digits=dict.fromkeys(tally.columns, DIGITS),
        note=_note(tally, bills, versions),
    )


def file_table(tally: Tally) -> Table:
    """The same for programs: a sum that holds anything unknown is empty, never too small."""
    columns = ["run", "policy", "world", "steps", "tasks", "for", "billed_cents"]
    for name in tally.columns[1:]:
        columns += [f"{name}_cents", f"{name}_known_cents", f"{name}_unknown", f"{name}_borrowed"]
    rows = []
    for place, bill in tally.bills():
        for what, sums in _lines(bill, tally.columns):
            cells: list[Cell] = [_cents(sums[0], bill.num_tasks)]
            for found in sums[1:]:
                known = _cents(found, bill.num_tasks)
                is_whole = found.num_unknown == 0
                lenders = " ".join(found.lenders)
                cells += [known if is_whole else None, known, found.num_unknown, lenders]
            rows.append(
                (
                    *(place.run, place.policy, place.world, place.steps),
                    *(bill.num_tasks, what, *cells),
                )
            )
    return Table(title="", columns=tuple(columns), rows=tuple(rows))


def _place_columns(bills: list[tuple[Place, Bill]]) -> tuple[str, ...]:
    """A run is named where there are several."""
    is_one = len({place.run for place, _ in bills}) == 1
    return ("policy", "world", "steps") if is_one else ("run", "policy", "world", "steps")


def _place(place: Place, columns: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(getattr(place, name) for name in columns)


def _lines(bill: Bill, columns: Sequence[str]) -> list[tuple[str, list[Sum]]]:
    """What each line of a bill is for, and its sums by column."""
    lines = [(name, [bill.total(ks, c) for c in columns]) for name, ks in ROWS.items()]
    tools = sorted(item.name for item in bill.items if item.kind == "tool")
    lines += [
        (f"tool {name}", [bill.of(Item(kind="tool", name=name), c) for c in columns])
        for name in tools
    ]
    paid = {item.kind for item in bill.items}
    lines += [(k, [bill.total((k,), c) for c in columns]) for k in ASIDE if k in paid]
    return lines


def _cents(found: Sum, num_tasks: int) -> float:
    return 100 * found.usd / num_tasks


def _cell(found: Sum, num_tasks: int) -> Cell:
    """Cents a task: marked where a price is borrowed, never a number where one is unknown."""
    cents = _cents(found, num_tasks)
    mark = "*" if found.lenders else ""
    if not found.num_unknown:
        return f"{cents:.{DIGITS}f}{mark}" if mark else cents
    if found.usd == 0:
        return f"unknown ({found.num_unknown})"
    return f"{cents:.{DIGITS}f}{mark} + unknown ({found.num_unknown})"


def _note(tally: Tally, bills: list[tuple[Place, Bill]], versions: Mapping[str, str]) -> str:
    notes = [NOT_UNSEEN]
    listed = ", ".join(
        f"{name} ({f'version {v}' if (v := versions[name]) else 'no version'})"
        for name in tally.columns[1:]
    )
    notes.append(f"{BILLED}: as drawn for each episode; prices as listed: {listed}.")
    lenders = {
        lender: None
        for _, bill in bills
        for sums in bill.items.values()
        for found in sums.values()
        for lender in found.lenders
    }
    if lenders:
        notes.append(f"*: with prices borrowed from {', '.join(lenders)}.")
    for name, rows in tally.unpriced.items():
        if rows:
            notes.append(f"unknown (entries): {name} has no price for {', '.join(rows)}.")
    if tally.num_unscored:
        notes.append(f"{tally.num_unscored} void or unscored rollouts are left out.")
    if any(item.name.startswith("sim/") for _, bill in bills for item in bill.items):
        notes.append(SIMULATED_NOTE)
    return " ".join(notes)
