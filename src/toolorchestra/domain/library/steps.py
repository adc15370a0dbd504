"""Steps that several of the library's functions share."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.value import money, money_text


def desk(db: Database) -> Record:
    """What holds for everybody."""
    return db.where("desk")[0]


def today(db: Database) -> datetime.date:
    """The day on which everything happens."""
    return datetime.date.fromisoformat(desk(db)["today"])


def plan_of(db: Database, member: Record) -> Record:
    """The plan of a member."""
    return one(db, "plans", member["plan"])


def book_of(db: Database, copy: Record) -> Record:
    """The book that a copy is one of."""
    return one(db, "books", copy["book"])


def open_loans(db: Database, member_id: str) -> list[Record]:
    """What a member has at home."""
    return db.where("loans", member=member_id, returned_on=None)


def loan_of(db: Database, copy_id: str) -> Record:
    """The open loan of a copy.

    Raises:
        DomainError: the copy is not lent.
    """
    loans = db.where("loans", copy=copy_id, returned_on=None)
    if not loans:
        raise DomainError(f"copy {copy_id} is not lent")
    return loans[0]


def charge(db: Database, member_id: str, amount: Decimal) -> str:
    """Add to what a member owes; gives what the member owes then."""
    owes = money_text(money(db.get("members", member_id)["owes"]) + amount)
    db.update("members", member_id, owes=owes)
    return owes


def check_membership(db: Database, member: Record) -> None:
    """Raises DomainError where the membership has expired."""
    if datetime.date.fromisoformat(member["expires_on"]) < today(db):
        raise DomainError(f"the membership expired on {member['expires_on']}")


def check_debt(db: Database, member: Record) -> None:
    """Raises DomainError where the member owes too much to borrow or renew."""
    limit = desk(db)["max_owed"]
    if money(member["owes"]) > money(limit):
        raise DomainError(f"the member owes {member['owes']}, which is more than {limit}")
