"""What concerns a customer alone: identity, address book, drop places, the weekly round."""

from __future__ import annotations

from typing import Any, Literal

from toolorchestra.domain.courier.steps import is_business, office, zone_of
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.value import money, money_text

_MAX_STOPS = 6
_Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
_Place = Literal["porch", "garage", "shed", "neighbour", "reception"]


def send_code(db: Database, customer_id: str) -> str:
    """Send a code to a customer's phone, by which the customer can be identified.

    Args:
        customer_id: Who.
    """
    one(db, "customers", customer_id)
    db.update("phones", customer_id, is_sent=True)
    return "sent"


def confirm_identity(db: Database, customer_id: str, code: str) -> str:
    """Note that a customer is identified, for the code that was sent to the phone.

    Args:
        customer_id: Who.
        code: What the customer read on the phone.
    """
    phone = one(db, "phones", customer_id)
    if not phone["is_sent"] or phone["code"] != code.strip():
        raise DomainError("that is not the code that was sent")
    db.update("customers", customer_id, is_identified=True)
    return "identified"


def add_contact(db: Database, customer_id: str, name: str, street: str, town_id: str) -> Record:
    """Add an address to a customer's address book.

    Args:
        customer_id: Whose.
        name: The full name.
        street: Street and house number.
        town_id: The town, e.g. T03.
    """
    one(db, "customers", customer_id)
    one(db, "towns", town_id)
    contact = {
        "contact_id": contact_key(customer_id, name),
        "customer": customer_id,
        "name": name,
        "street": street,
        "town": town_id,
    }
    db.add("contacts", contact)
    return contact


def contact_key(customer_id: str, name: str) -> str:
    """The key of a contact: it does not depend on what was added before."""
    return f"{customer_id}-{'-'.join(name.split())}"


def set_drop_places(db: Database, customer_id: str, places: list[_Place]) -> str:
    """Replace the list of places where a parcel is left when nobody opens.

    Args:
        customer_id: Whose.
        places: All of them, in the order in which they are to be tried.
    """
    one(db, "customers", customer_id)
    db.update("customers", customer_id, drop_places=places)
    return "changed"


def set_round(
    db: Database, customer_id: str, weekdays: list[_Weekday], stops: list[str]
) -> dict[str, Any]:
    """Set up a business customer's weekly round, or change it; gives what it costs a week.

    Args:
        customer_id: Whose.
        weekdays: All days of the week on which it is driven, in any order.
        stops: The contacts where the van calls, in the order in which it does.
    """
    if not is_business(db, customer_id):
        raise DomainError("rounds are driven for business customers only")
    if not weekdays or len(set(weekdays)) < len(weekdays):
        raise DomainError("weekdays: name at least one, and each once")
    if not 0 < len(stops) <= _MAX_STOPS or len(set(stops)) < len(stops):
        raise DomainError(f"stops: name at least one, at most {_MAX_STOPS}, and each once")
    for stop in stops:
        contact = one(db, "contacts", stop)
        if contact["customer"] != customer_id:
            raise DomainError(f"{stop} is not in the address book of {customer_id}")
        if zone_of(db, contact["town"])["zone_id"] != "home":
            raise DomainError(f"{stop} is not in the home zone")
    fee = money_text(money(office(db)["stop_fee"]) * len(stops) * len(weekdays))
    plan = {"weekdays": list(weekdays), "stops": stops, "weekly_fee": fee}
    if db.has("rounds", customer_id):
        db.update("rounds", customer_id, **plan)
    else:
        db.add("rounds", {"customer": customer_id, **plan})
    return {"weekly_fee": fee}


def end_round(db: Database, customer_id: str) -> str:
    """End a customer's weekly round for good.

    Args:
        customer_id: Whose.
    """
    db.remove("rounds", customer_id)
    return "ended"
