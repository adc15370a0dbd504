"""Parcels in every state, with what belongs to it: goods, cards, codes and charges."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.courier.rules import (
    first_day,
    is_working,
    price_of,
    working_day_after,
)
from toolorchestra.domain.courier.stock import BARRED, CONTENTS, COVERS, GOODS, TODAY
from toolorchestra.domain.database import Record
from toolorchestra.domain.record_maker import RecordMaker
from toolorchestra.domain.value import money, money_text

_NUM_FURTHER = 50
_STATUSES = ("booked", "under way", "missed", "at point", "delivered")
_ODDS = (9, 12, 3, 7, 8)


def add_parcels(service: RecordMaker) -> None:
    """Add a parcel to each contact, so that most can be told by it, and some further ones."""
    rng, known = service.rng, service.records["contacts"]
    contacts = [*rng.sample(known, len(known)), *rng.choices(known, k=_NUM_FURTHER)]
    codes = rng.sample(range(1000, 10_000), len(contacts))
    names = {one["name"]: one["customer_id"] for one in service.records["customers"]}
    numbers: dict[str, int] = {}
    for contact, code in zip(contacts, codes, strict=True):
        sender = contact["customer"]
        numbers[sender] = numbers.get(sender, 0) + 1
        parcel: Record = {"parcel_id": f"{sender}-{numbers[sender]}", "sender": sender}
        if contact["name"] in names:
            parcel["receiver"] = names[contact["name"]]
        parcel |= {"to_name": contact["name"], "street": contact["street"]}
        parcel |= {"town": contact["town"], **_draw_contents(service)}
        parcel |= {"status": _draw_status(service, parcel), "is_refunded": False}
        parcel |= {"num_moves": rng.choice((0, 0, 1, 2)), "price": _price(service, parcel)}
        parcel["goods"] = _draw_goods(service, parcel)
        parcel |= _draw_days(service, parcel)
        if parcel["status"] == "missed":
            card = f"{code // 100}F-{code % 100:02}"
            key = parcel["parcel_id"]
            service.add("cards", card_id=card, customer=parcel["receiver"], parcel=key)
        if parcel["status"] == "at point":
            parcel["point"] = _draw_point(service, parcel, str(code))
        service.add("parcels", **parcel)


def add_charges(service: RecordMaker) -> None:
    """Charge the senders of what was not delivered yet; what came before is paid."""
    owed: dict[str, Decimal] = {}
    for parcel in service.records["parcels"]:
        if parcel["status"] == "delivered":
            continue
        sender = parcel["sender"]
        owed[sender] = owed.get(sender, Decimal(0)) + money(parcel["price"])
        on = TODAY - datetime.timedelta(days=service.rng.randint(0, 9))
        service.add(
            "charges",
            charge_id=f"G{service.count('charges') + 1}",
            customer=sender,
            parcel=parcel["parcel_id"],
            reason="shipment",
            amount=parcel["price"],
            on=str(on),
        )
    for customer in service.records["customers"]:
        customer["owes"] = money_text(owed.get(customer["customer_id"], Decimal(0)))


def _named(service: RecordMaker, collection: str, key: str) -> Record:
    (found,) = [one for one in service.records[collection] if key == next(iter(one.values()))]
    return found


def _zone(service: RecordMaker, parcel: Record) -> Record:
    return _named(service, "zones", _named(service, "towns", parcel["town"])["zone"])


def _draw_contents(service: RecordMaker) -> Record:
    rng = service.rng
    contents = rng.choice(CONTENTS)
    names = ["express"] if contents == "food" else ["economy", "standard", "standard", "express"]
    cover = "0.00" if contents in BARRED else rng.choice(COVERS)
    grams = rng.randint(300, 14_500)
    return {"service": rng.choice(names), "grams": grams, "contents": contents, "cover": cover}


def _draw_status(service: RecordMaker, parcel: Record) -> str:
    status = service.rng.choices(_STATUSES, _ODDS)[0]
    is_theirs = "receiver" in parcel  # cards and codes are for customers
    if status == "at point" and parcel["contents"] == "food":
        return "delivered"
    return status if is_theirs or status not in ("missed", "at point") else "under way"


def _price(service: RecordMaker, parcel: Record) -> str:
    price = price_of(
        service.records["office"][0],
        _named(service, "services", parcel["service"]),
        _zone(service, parcel),
        plan=_named(service, "customers", parcel["sender"])["plan"],
        grams=parcel["grams"],
        cover=money(parcel["cover"]),
    )
    return money_text(price)


def _draw_goods(service: RecordMaker, parcel: Record) -> list[Record]:
    """What was declared to customs; the first of it is worth the cover already."""
    rng = service.rng
    is_asked = _zone(service, parcel)["needs_goods"]
    if not is_asked or (parcel["status"] == "booked" and rng.random() < 0.75):
        return []
    goods: list[Record] = []
    for name in rng.sample(GOODS, rng.randint(1, 3)):
        value = rng.randint(1_500, 9_000) + (0 if goods else int(money(parcel["cover"]) * 100))
        goods.append({"name": name, "value": money_text(Decimal(value) / 100)})
    return goods


def _draw_days(service: RecordMaker, parcel: Record) -> Record:
    rng, status = service.rng, parcel["status"]
    if status == "booked":
        is_ready = bool(parcel["goods"]) or not _zone(service, parcel)["needs_goods"]
        if not is_ready or rng.random() < 0.7:
            return {}
        pickup = working_day_after(first_day(service.records["office"][0]), rng.randint(0, 3))
        num_days = _named(service, "services", parcel["service"])["days"]
        return {"pickup_on": str(pickup), "due_on": str(working_day_after(pickup, num_days))}
    if status == "under way":
        return {"due_on": str(working_day_after(TODAY, rng.randint(0, 7)))}
    if status != "delivered":
        return {"due_on": str(TODAY - datetime.timedelta(days=1))}
    due = TODAY - datetime.timedelta(days=rng.randint(4, 22))
    if not is_working(due):
        due -= datetime.timedelta(days=1)
    late = rng.choice((0, 0, 1, 2, 3))
    return {"due_on": str(due), "delivered_on": str(working_day_after(due, late))}


def _draw_point(service: RecordMaker, parcel: Record, code: str) -> str:
    """Where a parcel lies; in a locker, behind a door that `code` opens."""
    here = [one for one in service.records["points"] if one["town"] == parcel["town"]]
    is_precious = money(parcel["cover"]) >= money(service.records["office"][0]["identity_from"])
    kinds = ("shop",) if is_precious else ("locker", "locker", "shop")
    kind = service.rng.choice(kinds)
    able = [one for one in here if one["kind"] == kind and one["max_grams"] >= parcel["grams"]]
    point = (able or [one for one in here if one["kind"] == "shop"])[0]
    if point["kind"] == "locker":
        service.add("codes", parcel=parcel["parcel_id"], code=code)
    return str(point["point_id"])
