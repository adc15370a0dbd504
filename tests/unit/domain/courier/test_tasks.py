"""Whether the golden actions, and the records that ship, keep to the rules of the policy."""

import datetime
from collections import Counter
from decimal import Decimal

import pytest

from toolorchestra.domain.courier.rules import first_day, is_working, price_of
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.value import money


@pytest.fixture(scope="module")
def courier():
    return load_shipped("courier")


@pytest.fixture(scope="module")
def records(courier):
    return courier.database.records


def test_the_user_has_something_to_do_in_many_tasks_of_every_difficulty_but_the_first(courier):
    names = {
        key: {action.name for action in task.actions if action.by == "user"}
        for key, task in courier.tasks.items()
    }
    counts = Counter(task.difficulty for key, task in courier.tasks.items() if names[key])
    assert set(counts) == {2, 3, 4, 5} and min(counts.values()) >= 4
    assert set.union(*names.values()) == set(courier.user_functions)


def test_its_functions_have_names_of_their_own(courier):
    own = {*courier.functions, *courier.user_functions}
    for name in SHIPPED:
        if name != "courier":
            other = load_shipped(name)
            assert not own & {*other.functions, *other.user_functions}


def test_everybody_owes_what_the_charges_come_to(records):
    owed = dict.fromkeys(records["customers"], Decimal(0))
    for entry in records["charges"].values():
        owed[entry["customer"]] += money(entry["amount"])
    assert owed == {key: money(one["owes"]) for key, one in records["customers"].items()}


def test_parcels_that_ship_have_the_price_and_the_days_that_the_rules_give(records):
    office = records["office"]["main"]
    for parcel in records["parcels"].values():
        zone = records["zones"][records["towns"][parcel["town"]]["zone"]]
        price = price_of(
            office,
            records["services"][parcel["service"]],
            zone,
            plan=records["customers"][parcel["sender"]]["plan"],
            grams=parcel["grams"],
            cover=money(parcel["cover"]),
        )
        assert money(parcel["price"]) == price
        for name in ("pickup_on", "due_on", "delivered_on"):
            day = parcel.get(name)
            assert day is None or is_working(datetime.date.fromisoformat(day)), parcel
        is_fetched = parcel["status"] != "booked" or "pickup_on" in parcel
        assert parcel["goods"] or not (is_fetched and zone["needs_goods"]), parcel
        declared = sum((money(one["value"]) for one in parcel["goods"]), Decimal(0))
        assert not parcel["goods"] or declared >= money(parcel["cover"])
        assert parcel["contents"] not in ("glass", "food") or not money(parcel["cover"])
        assert parcel["contents"] != "food" or parcel["service"] == "express"


def test_what_lies_in_a_locker_may_lie_there_and_has_a_code(records):
    for parcel in records["parcels"].values():
        if parcel["status"] == "at point":
            point = records["points"][parcel["point"]]
            assert point["town"] == parcel["town"]
            assert parcel["grams"] <= point["max_grams"] and parcel["contents"] != "food"
            assert (point["kind"] == "locker") == (parcel["parcel_id"] in records["codes"])
            assert point["kind"] == "shop" or money(parcel["cover"]) < 300


def test_no_code_is_told_before_the_screen_was_read_and_is_ready(courier):
    num_checked = 0
    for task in courier.tasks.values():
        environment = courier.begin(task)
        read = set()
        for action in task.actions:
            if action.name == "get_locker_code":
                parcel = environment.database.records["parcels"][action.arguments["parcel_id"]]
                screen = environment.database.records["screens"][parcel["point"]]
                assert screen.get("error") is None and parcel["point"] in read, task.id
                num_checked += 1
            if action.name == "read_screen":
                read.add(action.arguments["point_id"])
            environment.call(action.name, action.arguments, by=action.by)
    assert num_checked >= 4


def test_the_first_point_that_takes_a_parcel_holds_it(courier):
    num_checked = 0
    for task in courier.tasks.values():
        environment = courier.begin(task)
        kinds = {}
        for action in task.actions:
            if action.name == "list_points":
                kinds[action.arguments["town_id"]] = action.arguments.get("kind")
            if action.name == "hold_at_point":
                records = environment.database.records
                town = records["parcels"][action.arguments["parcel_id"]]["town"]
                fits = [
                    key
                    for key, point in sorted(records["points"].items())
                    if point["town"] == town
                    and kinds[town] in (None, point["kind"])
                    and environment.branch()
                    .call("hold_at_point", {**action.arguments, "point_id": key})
                    .is_ok
                ]
                assert action.arguments["point_id"] == fits[0], task.id
                num_checked += 1
            environment.call(action.name, action.arguments, by=action.by)
    assert num_checked >= 4


def test_it_is_after_the_cut_off_on_a_wednesday_so_that_friday_is_the_first_day(records):
    assert first_day(records["office"]["main"]) == datetime.date(2033, 6, 17)


def test_only_the_user_can_see_codes_cards_screens_boxes_and_phones(courier):
    """What a golden user reads is nowhere in what the policy's functions give of a customer."""
    task = next(iter(courier.tasks.values()))
    records = courier.database.records
    secrets = {one["code"] for one in records["phones"].values()} | set(records["cards"])
    environment = courier.begin(task)
    for key in records["customers"]:
        for name in ("get_customer", "list_parcels", "list_charges", "list_contacts"):
            content = environment.call(name, {"customer_id": key}).content
            assert not [secret for secret in secrets if f'"{secret}"' in content]
