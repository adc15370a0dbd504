"""Shipments until they are fetched."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Literal

from toolorchestra.domain.courier.rules import (
    cover_fee,
    day_problem,
    price_of,
    working_day_after,
)
from toolorchestra.domain.courier.steps import booked, charge, is_business, office, zone_of
from toolorchestra.domain.courier.stock import BARRED
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.value import money, money_text

_Contents = Literal["clothes", "books", "electronics", "tools", "glass", "food"]


def quote_shipment(
    db: Database, customer_id: str, town_id: str, service_id: str, grams: int, cover: Decimal
) -> dict[str, str]:
    """Tell what a shipment would cost; nothing is booked.

    Args:
        customer_id: Who would send it.
        town_id: Where to.
        service_id: economy, standard or express.
        grams: Its weight.
        cover: What it would be insured for; 0.00 without insurance.
    """
    service = db.get("services", service_id)
    _check_weight_and_cover(service, grams, cover)
    plan = one(db, "customers", customer_id)["plan"]
    zone = zone_of(db, town_id)
    price = price_of(office(db), service, zone, plan=plan, grams=grams, cover=cover)
    return {"price": money_text(price)}


def book_shipment(
    db: Database,
    customer_id: str,
    contact_id: str,
    service_id: str,
    grams: int,
    contents: _Contents,
    cover: Decimal,
) -> Record:
    """Book a shipment to a contact and charge its price; the parcel is not fetched by that yet.

    Args:
        customer_id: Who sends it.
        contact_id: Whom to, in the sender's address book.
        service_id: economy, standard or express.
        grams: Its weight.
        contents: What is in it.
        cover: What it is insured for; 0.00 without insurance.
    """
    contact = one(db, "contacts", contact_id)
    if contact["customer"] != customer_id:
        raise DomainError(f"{contact_id} is not in the address book of {customer_id}")
    if contents == "food" and service_id != "express":
        raise DomainError("food goes by express only")
    _check_contents(contents, cover)
    price = quote_shipment(db, customer_id, contact["town"], service_id, grams, cover)["price"]
    number = len(db.where("parcels", sender=customer_id)) + 1
    parcel: Record = {"parcel_id": f"{customer_id}-{number}", "sender": customer_id}
    for customer in db.where("customers", name=contact["name"]):
        parcel["receiver"] = customer["customer_id"]
    parcel |= {"to_name": contact["name"], "street": contact["street"], "town": contact["town"]}
    parcel |= {"service": service_id, "grams": grams, "contents": contents, "price": price}
    parcel |= {"cover": money_text(cover), "status": "booked", "num_moves": 0, "goods": []}
    parcel |= {"is_refunded": False}
    db.add("parcels", parcel)
    charge(db, customer_id, money(price), "shipment", parcel["parcel_id"])
    return parcel


def cancel_shipment(db: Database, parcel_id: str) -> dict[str, str]:
    """Cancel a shipment that was not fetched yet; gives what is credited.

    Args:
        parcel_id: Which.
    """
    parcel = booked(db, parcel_id)
    is_free = is_business(db, parcel["sender"])
    fee = Decimal(0) if is_free else money(office(db)["cancel_fee"])
    credit = money(parcel["price"]) - fee
    db.update("parcels", parcel_id, status="cancelled", pickup_on=None, due_on=None)
    charge(db, parcel["sender"], -credit, "cancellation", parcel_id)
    return {"credited": money_text(credit)}


def declare_goods(
    db: Database, parcel_id: str, names: list[str], values: list[Decimal]
) -> dict[str, str]:
    """Declare to customs what is in a parcel, in place of what was declared before.

    Args:
        parcel_id: Which.
        names: What the goods are.
        values: What each of them is worth, in the order of the names.
    """
    parcel = booked(db, parcel_id)
    if not zone_of(db, parcel["town"])["needs_goods"]:
        raise DomainError("the zone of the parcel's town asks for no declaration")
    if not names or len(names) != len(values) or min(values) <= 0:
        raise DomainError("names and values: give at least one name, and above 0 for each a value")
    total = sum(values, Decimal(0))
    if total < money(parcel["cover"]):
        raise DomainError(f"the goods are worth {money_text(total)}, less than the cover")
    goods = [
        {"name": name, "value": money_text(value)}
        for name, value in zip(names, values, strict=True)
    ]
    db.update("parcels", parcel_id, goods=goods)
    return {"total": money_text(total)}


def insure_parcel(db: Database, parcel_id: str, cover: Decimal) -> dict[str, str]:
    """Raise the cover of a parcel that was not fetched yet; gives what is charged for it.

    Args:
        parcel_id: Which.
        cover: What it is insured for then.
    """
    parcel, rules = booked(db, parcel_id), office(db)
    old = money(parcel["cover"])
    if cover <= old:
        raise DomainError(f"the cover is {parcel['cover']} already, and is only raised")
    _check_contents(parcel["contents"], cover)
    _check_weight_and_cover(one(db, "services", parcel["service"]), parcel["grams"], cover)
    declared = sum((money(one["value"]) for one in parcel["goods"]), Decimal(0))
    if parcel["goods"] and declared < cover:
        raise DomainError(f"the goods are declared to be worth {money_text(declared)} only")
    fee = cover_fee(rules, cover) - cover_fee(rules, old)
    price = money_text(money(parcel["price"]) + fee)
    db.update("parcels", parcel_id, cover=money_text(cover), price=price)
    return {"charged": charge(db, parcel["sender"], fee, "cover", parcel_id)}


def book_pickup(
    db: Database, customer_id: str, parcel_ids: list[str], day: datetime.date
) -> dict[str, Any]:
    """Have booked parcels fetched at the sender's; gives the fee and when each of them is due.

    Args:
        customer_id: The sender.
        parcel_ids: All that are to be fetched then, in any order.
        day: When.
    """
    rules, due = office(db), dict[str, str]()
    if problem := day_problem(rules, day):
        raise DomainError(problem)
    for parcel_id in parcel_ids:
        parcel = booked(db, parcel_id)
        if parcel["sender"] != customer_id or parcel.get("pickup_on") is not None:
            raise DomainError(f"{customer_id} does not send {parcel_id}, or it is to be fetched")
        if zone_of(db, parcel["town"])["needs_goods"] and not parcel["goods"]:
            raise DomainError(f"the goods in parcel {parcel_id} have to be declared first")
        days = one(db, "services", parcel["service"])["days"]
        due[parcel_id] = str(working_day_after(day, days))
        db.update("parcels", parcel_id, pickup_on=str(day), due_on=due[parcel_id])
    if not due:
        raise DomainError("parcel_ids: name at least one parcel")
    is_free = is_business(db, customer_id) or len(due) >= rules["free_pickup_parcels"]
    fee = Decimal(0) if is_free else money(rules["pickup_fee"])
    return {"fee": charge(db, customer_id, fee, "pick-up"), "due_on": due}


def _check_weight_and_cover(service: Record, grams: int, cover: Decimal) -> None:
    name = service["service_id"]
    if not 0 < grams <= service["max_grams"]:
        raise DomainError(f"{name} takes up to {service['max_grams']} grams; got {grams}")
    if not 0 <= cover <= money(service["max_cover"]):
        raise DomainError(f"{name} gives cover up to {service['max_cover']}; got {cover}")


def _check_contents(contents: str, cover: Decimal) -> None:
    if contents in BARRED and cover:
        raise DomainError(f"{contents} has no cover")
