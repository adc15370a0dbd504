"""Loans and holds."""

from __future__ import annotations

import datetime
from typing import Any

from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.library.steps import (
    book_of,
    charge,
    check_debt,
    check_membership,
    desk,
    loan_of,
    open_loans,
    plan_of,
    today,
)
from toolorchestra.domain.lookup import one
from toolorchestra.domain.new_key import new_key
from toolorchestra.domain.value import money, money_text


def lend_copy(db: Database, member_id: str, copy_id: str) -> dict[str, Any]:
    """Lend a copy to a member; gives the day on which it is due.

    Args:
        member_id: Who borrows it.
        copy_id: The copy, e.g. K101.
    """
    member, copy = db.get("members", member_id), db.get("copies", copy_id)
    check_membership(db, member)
    check_debt(db, member)
    plan = plan_of(db, member)
    if len(open_loans(db, member_id)) >= plan["max_loans"]:
        raise DomainError(f"the plan {plan['plan_id']} allows {plan['max_loans']} loans")
    if copy["status"] != "available":
        raise DomainError(f"copy {copy_id} is {copy['status']}")
    for hold in db.where("holds", member=member_id, book=copy["book"]):
        db.remove("holds", hold["hold_id"])
    loan = {
        "loan_id": new_key(db, "loans", "L"),
        "copy": copy_id,
        "member": member_id,
        "lent_on": str(today(db)),
        "due_on": str(today(db) + datetime.timedelta(days=plan["loan_days"])),
        "renewals": 0,
    }
    db.add("loans", loan)
    db.update("copies", copy_id, status="lent")
    return loan


def return_copy(db: Database, copy_id: str) -> dict[str, Any]:
    """Take a copy back; gives the fine for it, which is added to what the member owes.

    Args:
        copy_id: The copy, e.g. K101.
    """
    db.get("copies", copy_id)
    loan = loan_of(db, copy_id)
    days_late = (today(db) - datetime.date.fromisoformat(loan["due_on"])).days
    fine = money(desk(db)["fine_per_day"]) * max(0, days_late)
    owes = charge(db, loan["member"], fine) if fine else db.get("members", loan["member"])["owes"]
    db.update("loans", loan["loan_id"], returned_on=str(today(db)))
    db.update("copies", copy_id, status="available")
    return {"fine": money_text(fine), "owes": owes}


def renew_loan(db: Database, copy_id: str) -> dict[str, Any]:
    """Renew the loan of a copy; gives the day on which it is due then.

    Args:
        copy_id: The copy, e.g. K101.
    """
    loan, copy = loan_of(db, copy_id), db.get("copies", copy_id)
    member = db.get("members", loan["member"])
    check_membership(db, member)
    check_debt(db, member)
    if datetime.date.fromisoformat(loan["due_on"]) < today(db):
        raise DomainError(f"the loan was due on {loan['due_on']}; a late loan is not renewed")
    if loan["renewals"] >= desk(db)["max_renewals"]:
        raise DomainError(f"the loan was renewed {loan['renewals']} times already")
    holds = db.where("holds", book=copy["book"])
    if any(hold["member"] != loan["member"] for hold in holds):
        raise DomainError("another member has a hold on the book")
    due = today(db) + datetime.timedelta(days=plan_of(db, member)["loan_days"])
    db.update("loans", loan["loan_id"], due_on=str(due), renewals=loan["renewals"] + 1)
    return {"copy": copy_id, "due_on": str(due)}


def report_lost(db: Database, copy_id: str) -> dict[str, Any]:
    """Note that a lent copy is lost; its replacement cost is added to what the member owes.

    Args:
        copy_id: The copy, e.g. K101.
    """
    copy, loan = db.get("copies", copy_id), loan_of(db, copy_id)
    cost = book_of(db, copy)["replacement_cost"]
    owes = charge(db, loan["member"], money(cost))
    db.update("loans", loan["loan_id"], returned_on=str(today(db)))
    db.update("copies", copy_id, status="lost")
    return {"cost": cost, "owes": owes}


def place_hold(db: Database, member_id: str, book_id: str, branch_id: str) -> Record:
    """Put a member on the waiting list for a book.

    Args:
        member_id: Who waits.
        book_id: The book, e.g. B034.
        branch_id: Where it is to be picked up, e.g. R2.
    """
    member = db.get("members", member_id)
    db.get("books", book_id)
    branch = db.get("branches", branch_id)["name"]
    check_membership(db, member)
    if db.where("copies", book=book_id, branch=branch_id, status="available"):
        raise DomainError(f"a copy is available at {branch}")
    if db.where("holds", member=member_id, book=book_id):
        raise DomainError("the member has a hold on the book already")
    copies = [one(db, "copies", loan["copy"]) for loan in open_loans(db, member_id)]
    if any(copy["book"] == book_id for copy in copies):
        raise DomainError("the member has borrowed the book")
    plan = plan_of(db, member)
    if len(db.where("holds", member=member_id)) >= plan["max_holds"]:
        raise DomainError(f"the plan {plan['plan_id']} allows {plan['max_holds']} holds")
    hold = {
        "hold_id": new_key(db, "holds", "H"),
        "book": book_id,
        "member": member_id,
        "branch": branch_id,
        "placed_on": str(today(db)),
    }
    db.add("holds", hold)
    return hold


def cancel_hold(db: Database, member_id: str, book_id: str) -> str:
    """Take a member off the waiting list for a book.

    Args:
        member_id: Who waits.
        book_id: The book, e.g. B034.
    """
    holds = db.where("holds", member=member_id, book=book_id)
    if not holds:
        raise DomainError("the member has no hold on the book")
    db.remove("holds", holds[0]["hold_id"])
    return "cancelled"
