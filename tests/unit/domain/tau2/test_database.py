"""Records that environments share until they touch them, and what names a database's content."""

from copy import deepcopy

import pytest
from pydantic import BaseModel

from toolorchestra.domain.tau2.database import digest, own_model


class Seat(BaseModel):
    price: float | int | bool
    tags: list[str] = []


class Flight(BaseModel):
    name: str
    seats: dict[str, Seat]


class Base(BaseModel):
    flights: dict[str, Flight]
    notes: list[str] = []


def make_base():
    seats = {"a": Seat(price=10), "b": Seat(price=20)}
    flights = {name: Flight(name=name, seats=deepcopy(seats)) for name in ("F1", "F2", "F3")}
    return Base(flights=flights, notes=["new"])


SHARED = make_base()


def change(base, what):
    flights = base.flights
    match what:
        case "field":
            flights["F1"].name = "F9"
        case "deep":
            flights["F1"].seats["a"].tags.append("window")
        case "get":
            flights.get("F1").seats.get("a").price = 11
        case "values":
            for flight in flights.values():
                next(iter(flight.seats.values())).price = 11
        case "items":
            for name, flight in flights.items():
                flight.name = f"{name}!"
        case "popped":
            flights.pop("F1").name = "gone"
        case "popitem":
            flights.popitem()[1].name = "gone"
        case "default":
            flights.setdefault("F1", None).name = "F9"
        case "copy":
            flights.copy()["F1"].name = "F9"
        case "united":
            (flights | {})["F1"].name = "F9"
        case "deepcopy":
            deepcopy(flights)["F1"].name = "F9"
        case "new":
            flights["F4"] = Flight(name="F4", seats={})
        case "deleted":
            del flights["F1"]
        case "list":
            base.notes.append("more")


WAYS = (
    "field", "deep", "get", "values", "items", "popped", "popitem", "default", "copy", "united",
    "deepcopy", "new", "deleted", "list",
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_one_environment_changes_is_written_down_as_ever_and_seen_by_no_other(way):
    base, plain = own_model(SHARED), make_base()
    change(base, way)
    change(plain, way)
    assert base.model_dump() == plain.model_dump()
    assert SHARED.model_dump() == make_base().model_dump()
    assert own_model(SHARED).model_dump() == make_base().model_dump()


def test_two_databases_have_one_digest_where_they_would_be_written_alike():
    one, other = own_model(SHARED), own_model(SHARED)
    assert digest(one, SHARED) == digest(other, SHARED) == digest(make_base(), SHARED)
    one.flights["F1"].seats["a"].price = 11
    assert digest(one, SHARED) != digest(other, SHARED)
    plain = make_base()
    plain.flights["F1"].seats["a"].price = 11
    assert digest(one, SHARED) == digest(plain, SHARED)
    one.flights["F1"].seats["a"].price = 10  # touched, and as it was
    assert digest(one, SHARED) == digest(other, SHARED)


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("copy", "united", "deepcopy")])
def test_a_digest_tells_every_change(way):
    base = own_model(SHARED)
    change(base, way)
    assert digest(base, SHARED) != digest(own_model(SHARED), SHARED)


@pytest.mark.parametrize(("price", "is_same"), [(10, True), (10.0, False), (True, False)])
def test_a_digest_tells_kinds_of_numbers_apart_as_json_does(price, is_same):
    base = own_model(SHARED)
    base.flights["F1"].seats["a"].price = price
    assert (digest(base, SHARED) == digest(SHARED, SHARED)) is is_same


def test_looking_copies_no_more_than_what_was_looked_at():
    base = own_model(SHARED)
    for flight in base.flights.values():
        assert flight.name
    assert dict.__getitem__(base.flights["F1"].seats, "a") is SHARED.flights["F1"].seats["a"]
    assert base.flights["F1"].seats["a"] is not SHARED.flights["F1"].seats["a"]
