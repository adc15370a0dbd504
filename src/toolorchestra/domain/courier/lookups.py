"""What can be looked up about the service, its customers and parcels; nothing here changes."""

from __future__ import annotations

from typing import Any, Literal

from toolorchestra.domain.courier.steps import check_party
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import by_name, one


def get_tariff(db: Database) -> dict[str, Any]:
    """Get today's date and time, the cut-off, all fees and limits, the services and the zones."""
    return {
        "office": db.get("office", "main"),
        "services": db.where("services"),
        "zones": db.where("zones"),
    }


def list_towns(db: Database) -> list[Record]:
    """List the towns with their zones and how far they are from the depot."""
    return db.where("towns")


def list_points(
    db: Database, town_id: str, kind: Literal["locker", "shop"] | None = None
) -> list[Record]:
    """List the lockers and shops of a town that hold parcels.

    Args:
        town_id: e.g. T03.
        kind: Gives only those.
    """
    db.get("towns", town_id)
    return db.where("points", lambda point: kind in (None, point["kind"]), town=town_id)


def find_customer(db: Database, name: str) -> Record:
    """Find a customer by name.

    Args:
        name: The full name, in any case.
    """
    return by_name(db, "customers", name)


def get_customer(db: Database, customer_id: str) -> Record:
    """Get all that is known of a customer: address, plan, what is owed, drop places.

    Args:
        customer_id: e.g. C012.
    """
    return db.get("customers", customer_id)


def list_contacts(db: Database, customer_id: str) -> list[Record]:
    """List a customer's address book.

    Args:
        customer_id: e.g. C012.
    """
    db.get("customers", customer_id)
    return db.where("contacts", customer=customer_id)


def list_parcels(db: Database, customer_id: str) -> list[dict[str, Any]]:
    """List all parcels that a customer sends, has sent or receives.

    Args:
        customer_id: e.g. C012.
    """
    db.get("customers", customer_id)
    found = db.where(
        "parcels", lambda parcel: customer_id in (parcel["sender"], parcel.get("receiver"))
    )
    return [
        {**parcel, "sender_name": one(db, "customers", parcel["sender"])["name"]}
        for parcel in found
    ]


def trace_parcel(db: Database, parcel_id: str) -> Record:
    """Get a parcel by the number on its label.

    Args:
        parcel_id: e.g. C012-3.
    """
    return db.get("parcels", parcel_id)


def list_charges(db: Database, customer_id: str) -> list[Record]:
    """List what a customer was charged and credited; credits are negative.

    Args:
        customer_id: e.g. C012.
    """
    db.get("customers", customer_id)
    return db.where("charges", customer=customer_id)


def get_round(db: Database, customer_id: str) -> Record:
    """Get a business customer's weekly round.

    Args:
        customer_id: e.g. C012.
    """
    return db.get("rounds", customer_id)


def get_locker_code(db: Database, parcel_id: str, customer_id: str) -> dict[str, str]:
    """Get the code that opens the locker door behind which a parcel lies.

    Args:
        parcel_id: The parcel.
        customer_id: Who is to fetch it.
    """
    parcel = db.get("parcels", parcel_id)
    check_party(db, parcel, customer_id)
    codes = db.where("codes", parcel=parcel_id)
    if not codes:
        raise DomainError(f"parcel {parcel_id} lies in no locker")
    return {"point": parcel["point"], "code": codes[0]["code"]}
