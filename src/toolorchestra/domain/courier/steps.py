"""Steps that several of the parcel service's functions share."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.courier.rules import first_day
from toolorchestra.domain.database import Database, Key, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.new_key import new_key
from toolorchestra.domain.value import money, money_text


def office(db: Database) -> Record:
    """What holds for everybody."""
    return db.where("office")[0]


def zone_of(db: Database, town_id: Key) -> Record:
    """The zone of a town."""
    return one(db, "zones", one(db, "towns", town_id)["zone"])


def charge(
    db: Database, customer_id: Key, amount: Decimal, reason: str, parcel_id: Key | None = None
) -> str:
    """Charge a customer, or credit where the amount is negative; gives the amount as a text."""
    text = money_text(amount)
    if amount:
        customer = db.get("customers", customer_id)
        db.update("customers", customer_id, owes=money_text(money(customer["owes"]) + amount))
        entry = {"customer": customer_id, "reason": reason, "amount": text}
        entry |= {"charge_id": new_key(db, "charges", "G"), "on": office(db)["today"]}
        db.add("charges", entry if parcel_id is None else {**entry, "parcel": parcel_id})
    return text


def booked(db: Database, parcel_id: Key) -> Record:
    """A parcel that was not fetched yet.

    Raises:
        DomainError: it was, or it is cancelled.
    """
    parcel = db.get("parcels", parcel_id)
    if parcel["status"] != "booked":
        raise DomainError(f"parcel {parcel_id} is {parcel['status']}, so it stays as it is")
    return parcel


def changeable(db: Database, parcel_id: Key, customer_id: Key, *statuses: str) -> Record:
    """A parcel whose delivery a customer may still change.

    Raises:
        DomainError: the customer may not, or it is too late.
    """
    parcel = db.get("parcels", parcel_id)
    check_party(db, parcel, customer_id)
    if parcel["status"] not in statuses:
        raise DomainError(f"parcel {parcel_id} is {parcel['status']}, not {' or '.join(statuses)}")
    first = first_day(office(db))
    if parcel["status"] == "under way" and datetime.date.fromisoformat(parcel["due_on"]) < first:
        raise DomainError(
            f"parcel {parcel_id} is due on {parcel['due_on']}; what is due before {first} is not "
            "changed any more"
        )
    return parcel


def check_party(db: Database, parcel: Record, customer_id: Key) -> None:
    """Raises DomainError where a parcel is not the customer's, or the customer is not identified
    as that parcel demands."""
    customer = one(db, "customers", customer_id)
    if customer_id not in (parcel["sender"], parcel.get("receiver")):
        raise DomainError(f"{customer_id} is neither sender nor receiver of {parcel['parcel_id']}")
    limit = office(db)["identity_from"]
    if money(parcel["cover"]) >= money(limit) and not customer["is_identified"]:
        raise DomainError(
            f"parcel {parcel['parcel_id']} has cover of {limit} or more: {customer_id} has to be "
            "identified first"
        )


def is_business(db: Database, customer_id: Key) -> bool:
    """Whether a customer has the business plan."""
    return str(one(db, "customers", customer_id)["plan"]) == "business"
