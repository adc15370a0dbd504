"""What concerns a member alone: address, lists, plan, fees and payments."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.library.steps import (
    charge,
    open_loans,
    plan_of,
    today,
)
from toolorchestra.domain.new_key import new_key
from toolorchestra.domain.value import money, money_text


def pay(db: Database, member_id: str, amount: Decimal) -> dict[str, str]:
    """Take a payment; gives what the member owes after it.

    Args:
        member_id: Who pays.
        amount: Any part of what is owed, e.g. 2.50.
    """
    owes = money(db.get("members", member_id)["owes"])
    if not 0 < amount <= owes:
        raise DomainError(f"the member owes {money_text(owes)}; pay more than 0, and no more")
    payment = {
        "payment_id": new_key(db, "payments", "Y"),
        "member": member_id,
        "amount": money_text(amount),
        "paid_on": str(today(db)),
    }
    db.add("payments", payment)
    return {"owes": charge(db, member_id, -amount)}


def change_address(db: Database, member_id: str, street: str, town: str) -> str:
    """Change where a member lives.

    Args:
        member_id: Who moved.
        street: Street and house number.
        town: The town.
    """
    db.update("members", member_id, address={"street": street, "town": town})
    return "changed"


def change_branch(db: Database, member_id: str, branch_id: str) -> str:
    """Change a member's own branch.

    Args:
        member_id: The member.
        branch_id: The new branch, e.g. R2.
    """
    db.get("branches", branch_id)
    db.update("members", member_id, branch=branch_id)
    return "changed"


def change_plan(db: Database, member_id: str, plan_id: str) -> str:
    """Change a member's plan.

    Args:
        member_id: The member.
        plan_id: The new plan; get_rules lists them.
    """
    plan = db.get("plans", plan_id)
    if len(open_loans(db, member_id)) > plan["max_loans"]:
        raise DomainError(f"the member has more than the {plan['max_loans']} loans of {plan_id}")
    db.update("members", member_id, plan=plan_id)
    return "changed"


def extend_membership(db: Database, member_id: str) -> dict[str, Any]:
    """Extend a membership by a year; the plan's fee is added to what the member owes.

    Args:
        member_id: The member.
    """
    member = db.get("members", member_id)
    day = datetime.date.fromisoformat(member["expires_on"])
    if (day.month, day.day) == (2, 29):
        day = day.replace(day=28)
    expires_on = str(day.replace(year=day.year + 1))
    db.update("members", member_id, expires_on=expires_on)
    owes = charge(db, member_id, money(plan_of(db, member)["yearly_fee"]))
    return {"expires_on": expires_on, "owes": owes}


def set_interests(db: Database, member_id: str, interests: list[str]) -> str:
    """Replace the subjects that a member wants news about.

    Args:
        member_id: The member.
        interests: All subjects, in any order.
    """
    db.update("members", member_id, interests=interests)
    return "changed"


def set_reading_list(db: Database, member_id: str, book_ids: list[str]) -> str:
    """Replace a member's reading list.

    Args:
        member_id: The member.
        book_ids: All books, in the order in which they are to be read.
    """
    for book_id in book_ids:
        db.get("books", book_id)
    db.update("members", member_id, reading_list=book_ids)
    return "changed"
