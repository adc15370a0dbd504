"""Deliveries that are changed on the way, and lockers."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.courier.rules import day_problem, working_day_after
from toolorchestra.domain.courier.steps import (
    changeable,
    charge,
    is_business,
    office,
    zone_of,
)
from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.value import money

_MAX_DAYS_LATER = 7
_MAX_MOVES = 2


def redirect_parcel(
    db: Database, parcel_id: str, customer_id: str, street: str, town_id: str
) -> dict[str, str]:
    """Send a parcel that is under way to another address; gives the fee and when it is due.

    Args:
        parcel_id: Which.
        customer_id: Who asks for it.
        street: Street and house number.
        town_id: The town, e.g. T03.
    """
    parcel = changeable(db, parcel_id, customer_id, "under way")
    if not one(db, "services", parcel["service"])["is_redirected"]:
        raise DomainError(f"{parcel['service']} parcels are not redirected")
    if zone_of(db, town_id) != zone_of(db, parcel["town"]):
        raise DomainError("the new address is in another zone")
    if parcel["goods"]:
        raise DomainError("a parcel that was declared to customs is not redirected")
    due = datetime.date.fromisoformat(parcel["due_on"])
    due_on = str(working_day_after(due, int(town_id != parcel["town"])))
    db.update("parcels", parcel_id, street=street, town=town_id, due_on=due_on, point=None)
    fee = Decimal(0) if is_business(db, customer_id) else money(office(db)["redirect_fee"])
    return {"fee": charge(db, customer_id, fee, "redirection", parcel_id), "due_on": due_on}


def reschedule_delivery(
    db: Database, parcel_id: str, customer_id: str, day: datetime.date
) -> dict[str, str]:
    """Deliver a parcel that is under way on a later day; gives the fee.

    Args:
        parcel_id: Which.
        customer_id: Who asks for it.
        day: The new day.
    """
    parcel = changeable(db, parcel_id, customer_id, "under way")
    due = datetime.date.fromisoformat(parcel["due_on"])
    if not due < day <= due + datetime.timedelta(days=_MAX_DAYS_LATER):
        raise DomainError(f"the new day has to be in the {_MAX_DAYS_LATER} days after {due}")
    if problem := day_problem(office(db), day):
        raise DomainError(problem)
    moves = parcel["num_moves"]
    if moves >= _MAX_MOVES:
        raise DomainError(f"parcel {parcel_id} got a new day {moves} times already")
    db.update("parcels", parcel_id, due_on=str(day), num_moves=moves + 1)
    fee = money(office(db)["move_fee"]) if moves else Decimal(0)
    return {"fee": charge(db, customer_id, fee, "new day", parcel_id)}


def hold_at_point(db: Database, parcel_id: str, customer_id: str, point_id: str) -> dict[str, str]:
    """Hold a parcel that is under way or was missed at a locker or shop, free of charge.

    Args:
        parcel_id: Which.
        customer_id: Who asks for it.
        point_id: Where, e.g. Q07.
    """
    parcel = changeable(db, parcel_id, customer_id, "under way", "missed")
    point, rules = one(db, "points", point_id), office(db)
    if point["town"] != parcel["town"]:
        raise DomainError(f"point {point_id} is not in the parcel's town")
    if parcel["grams"] > point["max_grams"]:
        raise DomainError(f"point {point_id} takes up to {point['max_grams']} grams")
    if parcel["contents"] == "food":
        raise DomainError("food is not held")
    is_precious = money(parcel["cover"]) >= money(rules["identity_from"])
    if point["kind"] == "locker" and is_precious:
        raise DomainError(f"what has cover of {rules['identity_from']} or more lies in no locker")
    db.update("parcels", parcel_id, point=point_id, status="under way")
    return {"point": point_id, "street": point["street"]}


def redeliver(
    db: Database, parcel_id: str, customer_id: str, card_id: str, day: datetime.date
) -> dict[str, str]:
    """Bring a parcel again that was missed.

    Args:
        parcel_id: Which.
        customer_id: The receiver.
        card_id: The number on the card that was left in the letterbox.
        day: When to bring it.
    """
    parcel = changeable(db, parcel_id, customer_id, "missed")
    if not db.where("cards", card_id=card_id, parcel=parcel["parcel_id"]):
        raise DomainError(f"no card {card_id!r} was left for parcel {parcel_id}")
    if problem := day_problem(office(db), day):
        raise DomainError(problem)
    db.update("parcels", parcel_id, status="under way", due_on=str(day))
    return {"due_on": str(day)}


def allow_restart(db: Database, point_id: str, error: str) -> str:
    """Let who stands at a locker restart it by its button.

    Args:
        point_id: The locker, e.g. Q07.
        error: The error that stands on its screen, e.g. E99.
    """
    screen = one(db, "screens", point_id)
    if screen.get("error") != error.strip().upper():
        raise DomainError(f"locker {point_id} does not show the error {error[:20]!r}")
    db.update("screens", point_id, is_restart_allowed=True)
    return "the button works now"
