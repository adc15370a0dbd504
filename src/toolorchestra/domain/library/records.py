"""The library's records, invented from a seed."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

from toolorchestra.domain.database import Record
from toolorchestra.domain.names import name_maker
from toolorchestra.domain.record_maker import RecordMaker

TODAY = datetime.date(2031, 5, 14)
SUBJECTS = (
    "gardening", "astronomy", "history", "cooking", "sailing", "music", "chess", "poetry",
    "geology", "weaving",
)  # fmt: skip
_NUM_AUTHORS, _NUM_BOOKS, _NUM_COPIES, _NUM_MEMBERS = 30, 70, 150, 60
_NUM_HOLDS = 45
_TITLES = (
    "The Road to {}", "A Winter in {}", "Letters from {}", "The Keeper of {}", "{} by Night",
    "The Last Map of {}",
)  # fmt: skip
_PLANS = (("child", "0.00", 14, 3, 1), ("adult", "24.00", 21, 5, 3), ("patron", "60.50", 28, 8, 5))


def make_records(rng: random.Random) -> Iterator[tuple[str, Record]]:
    """All records, each with its collection; the same for the same state of `rng`."""
    library = RecordMaker(rng=rng, make_name=name_maker(rng))
    _add_rules(library)
    _add_books(library)
    _add_members(library)
    _add_loans(library)
    _add_holds(library)
    yield from library.lines()


def _add_rules(library: RecordMaker) -> None:
    library.add(
        "desk",
        desk_id="main",
        today=str(TODAY),
        fine_per_day="0.35",
        max_owed="15.00",
        max_renewals=2,
    )
    for name, fee, days, loans, holds in _PLANS:
        library.add(
            "plans",
            plan_id=name,
            yearly_fee=fee,
            loan_days=days,
            max_loans=loans,
            max_holds=holds,
        )
    for number in range(1, 6):
        library.add("branches", branch_id=f"R{number}", name=f"{library.make_name()} Branch")


def _add_books(library: RecordMaker) -> None:
    rng = library.rng
    for number in range(1, _NUM_AUTHORS + 1):
        name = f"{library.make_name()} {library.make_name()}"
        library.add("authors", author_id=f"A{number:02}", name=name)
    for number in range(1, _NUM_BOOKS + 1):
        library.add(
            "books",
            book_id=f"B{number:03}",
            title=rng.choice(_TITLES).format(library.make_name()),
            authors=library.draw_some("authors", "author_id", 1, 2),
            subjects=rng.sample(SUBJECTS, rng.randint(1, 3)),
            year=rng.randint(1950, 2030),
            pages=rng.randint(90, 900),
            replacement_cost=f"{rng.randint(8, 60)}.{rng.choice(('00', '50', '90'))}",
        )
    for number in range(1, _NUM_COPIES + 1):
        first = number <= _NUM_BOOKS  # every book has a copy
        library.add(
            "copies",
            copy_id=f"K{number:03}",
            book=f"B{number:03}" if first else library.draw("books", "book_id"),
            branch=library.draw("branches", "branch_id"),
            status="available",
        )


def _add_members(library: RecordMaker) -> None:
    rng = library.rng
    for number in range(1, _NUM_MEMBERS + 1):
        person = library.person()
        owes = f"{rng.randint(0, 24)}.{rng.randint(0, 99):02}" if rng.random() < 0.5 else "0.00"
        library.add(
            "members",
            member_id=f"M{number:03}",
            **person,
            address={
                "street": f"{library.make_name()} Street {rng.randint(1, 99)}",
                "town": library.make_name(),
            },
            plan=rng.choices([plan[0] for plan in _PLANS], [1, 4, 2])[0],
            branch=library.draw("branches", "branch_id"),
            expires_on=str(TODAY + datetime.timedelta(days=rng.randint(-20, 360))),
            owes=owes,
            interests=rng.sample(SUBJECTS, rng.randint(1, 4)),
            reading_list=library.draw_some("books", "book_id", 2, 5),
        )


def _add_loans(library: RecordMaker) -> None:
    rng = library.rng
    days = {plan[0]: plan[2] for plan in _PLANS}
    room = {m["member_id"]: {p[0]: p[3] for p in _PLANS}[m["plan"]] for m in _members(library)}
    for copy in library.records["copies"]:
        is_past = rng.random() < 0.2
        if not is_past and rng.random() < 0.3:
            continue
        member = rng.choice(_members(library))
        if room[member["member_id"]] < 1:
            continue
        lent_on = TODAY - datetime.timedelta(days=rng.randint(1, 30))
        loan: Record = {
            "copy": copy["copy_id"],
            "member": member["member_id"],
            "lent_on": str(lent_on),
            "due_on": str(lent_on + datetime.timedelta(days=days[member["plan"]])),
            "renewals": rng.choice((0, 0, 1, 2)),
        }
        if is_past:
            away = datetime.timedelta(days=rng.randint(0, (TODAY - lent_on).days))
            loan["returned_on"] = str(lent_on + away)
        else:
            room[member["member_id"]] -= 1
            copy["status"] = "lent"
        library.add("loans", loan_id=f"L{library.count('loans') + 1}", **loan)


def _add_holds(library: RecordMaker) -> None:
    rng, taken = library.rng, set[tuple[str, str]]()
    waiting: dict[str, int] = {}
    at_home = {(loan["member"], loan["copy"]) for loan in library.records["loans"]}
    borrowed = {
        (member, copy["book"])
        for member, copy_id in at_home
        for copy in library.records["copies"]
        if copy["copy_id"] == copy_id
    }
    limits = {plan[0]: plan[4] for plan in _PLANS}
    while len(taken) < _NUM_HOLDS:
        member, book = rng.choice(_members(library)), library.draw("books", "book_id")
        key = member["member_id"], book
        is_full = waiting.get(key[0], 0) >= limits[member["plan"]]
        if key in taken or key in borrowed or is_full:
            continue
        taken.add(key)
        waiting[key[0]] = waiting.get(key[0], 0) + 1
        library.add(
            "holds",
            hold_id=f"H{len(taken)}",
            book=book,
            member=key[0],
            branch=member["branch"],
            placed_on=str(TODAY - datetime.timedelta(days=rng.randint(0, 40))),
        )


def _members(library: RecordMaker) -> list[Record]:
    return library.records["members"]
