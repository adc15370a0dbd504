"""The parcel service's records, invented from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from toolorchestra.domain.courier.account import contact_key
from toolorchestra.domain.courier.parcel_records import add_charges, add_parcels
from toolorchestra.domain.courier.stock import (
    COLOURS,
    DROP_PLACES,
    ERRORS,
    FEES,
    NOW,
    SERVICES,
    TODAY,
    TOWNS_PER_ZONE,
    WEEKDAYS,
    ZONES,
)
from toolorchestra.domain.database import Record
from toolorchestra.domain.names import name_maker
from toolorchestra.domain.record_maker import RecordMaker
from toolorchestra.domain.value import money, money_text

_NUM_CUSTOMERS, _EVERY_BUSINESS = 48, 3
_LOCKER_GRAMS, _SHOP_GRAMS = (8_000, 12_000, 15_000), (20_000, 31_000)


def make_records(rng: random.Random) -> Iterator[tuple[str, Record]]:
    """All records, each with its collection; the same for the same state of `rng`."""
    service = RecordMaker(rng=rng, make_name=name_maker(rng))
    _add_rules(service)
    _add_places(service)
    _add_customers(service)
    _add_contacts(service)
    _add_rounds(service)
    add_parcels(service)
    add_charges(service)
    _add_boxes(service)
    yield from service.lines()


def _street(service: RecordMaker) -> str:
    return f"{service.make_name()} Road {service.rng.randint(1, 99)}"


def _add_rules(service: RecordMaker) -> None:
    service.add("office", office_id="main", today=str(TODAY), time=NOW, **FEES)
    names = ("service_id", "days", "base", "per_kg", "max_grams", "max_cover", "is_redirected")
    for row in SERVICES:
        service.add("services", **dict(zip((*names, "late_percent"), row, strict=True)))
    for name, surcharge, needs_goods in ZONES:
        service.add("zones", zone_id=name, surcharge=surcharge, needs_goods=needs_goods)


def _add_places(service: RecordMaker) -> None:
    """Towns, each with lockers and a shop."""
    rng = service.rng
    zones = [zone for zone, count in TOWNS_PER_ZONE.items() for _ in range(count)]
    distances = iter(rng.sample(range(3, 60), len(zones)))
    for number, zone in enumerate(zones, start=1):
        km = next(distances) * (1 if zone == "home" else 61)
        service.add("towns", town_id=f"T{number:02}", name=service.make_name(), zone=zone, km=km)
        for kind in ("locker", "shop", "locker") if zone == "home" else ("shop", "locker"):
            point_id = f"Q{service.count('points') + 1:02}"
            service.add(
                "points",
                point_id=point_id,
                kind=kind,
                street=_street(service),
                town=f"T{number:02}",
                max_grams=rng.choice(_LOCKER_GRAMS if kind == "locker" else _SHOP_GRAMS),
            )
            if kind == "locker":
                error = {"error": rng.choice(ERRORS)} if rng.random() < 0.4 else {}
                service.add("screens", point=point_id, **error, is_restart_allowed=False)


def _add_customers(service: RecordMaker) -> None:
    rng = service.rng
    codes = rng.sample(range(10_000, 100_000), _NUM_CUSTOMERS)
    for number in range(1, _NUM_CUSTOMERS + 1):
        key = f"C{number:03}"
        service.add(
            "customers",
            customer_id=key,
            **service.person(),
            street=_street(service),
            town=service.draw("towns", "town_id"),
            plan="private" if number % _EVERY_BUSINESS else "business",
            owes="0.00",
            is_identified=rng.random() < 0.3,
            drop_places=rng.sample(DROP_PLACES, rng.randint(1, 3)),
        )
        service.add("phones", customer=key, code=str(codes[number - 1]), is_sent=False)


def _add_contacts(service: RecordMaker) -> None:
    """Everybody knows some other customers and some people who are none."""
    rng, customers = service.rng, service.records["customers"]
    for customer in customers:
        others = [one for one in customers if one is not customer]
        known = rng.sample(others, 5)
        for _ in range(3 if customer["plan"] == "business" else 1):
            stranger = {"name": service.person()["name"], "street": _street(service)}
            known.append({**stranger, "town": service.draw("towns", "town_id")})
        for person in known:
            service.add(
                "contacts",
                contact_id=contact_key(customer["customer_id"], person["name"]),
                customer=customer["customer_id"],
                name=person["name"],
                street=person["street"],
                town=person["town"],
            )


def _add_rounds(service: RecordMaker) -> None:
    rng = service.rng
    home = {town["town_id"] for town in service.records["towns"] if town["zone"] == "home"}
    for customer in service.records["customers"]:
        key = customer["customer_id"]
        stops = [
            contact["contact_id"]
            for contact in service.records["contacts"]
            if contact["customer"] == key and contact["town"] in home
        ]
        if customer["plan"] != "business" or len(stops) < 2 or rng.random() < 0.3:
            continue
        stops = rng.sample(stops, rng.randint(2, min(4, len(stops))))
        weekdays = rng.sample(WEEKDAYS, rng.randint(1, 3))
        fee = money(str(FEES["stop_fee"])) * len(stops) * len(weekdays)
        service.add(
            "rounds", customer=key, weekdays=weekdays, stops=stops, weekly_fee=money_text(fee)
        )


def _add_boxes(service: RecordMaker) -> None:
    """What stands at customers' homes: what they received, and two boxes that are to be sent."""
    rng = service.rng
    for customer in service.records["customers"]:
        key = customer["customer_id"]
        labels: list[Record] = [
            {"label": parcel["parcel_id"], "grams": parcel["grams"]}
            for parcel in service.records["parcels"]
            if parcel.get("receiver") == key and parcel["status"] == "delivered"
        ]
        unsent: list[Record] = [{"grams": rng.randint(300, 14_500)} for _ in range(2)]
        found = [*labels, *unsent][: len(COLOURS)]
        for box, colour in zip(found, rng.sample(COLOURS, len(found)), strict=True):
            number = f"X{service.count('boxes') + 1:03}"
            service.add("boxes", box_id=number, customer=key, looks=f"{colour} box", **box)
