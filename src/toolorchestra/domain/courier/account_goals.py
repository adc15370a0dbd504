"""What customers want with their accounts and rounds: each function adds one goal to a task."""

from __future__ import annotations

from decimal import Decimal

from toolorchestra.domain.courier import named
from toolorchestra.domain.courier.stock import DROP_PLACES, WEEKDAYS
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def ask_owed(script: Script, customer: str) -> bool:
    """What the account comes to."""
    owes = script.do("get_customer", customer_id=customer)["owes"]
    if not money(owes):
        return False
    script.ask("How much do I owe you at the moment?", owes)
    return True


def ask_charged(script: Script, customer: str) -> bool:
    """What was charged in the last days."""
    charges = script.do("list_charges", customer_id=customer)
    since = script.rng.choice(("2033-06-09", "2033-06-11", "2033-06-13"))
    some = [money(one["amount"]) for one in charges if one["on"] >= since]
    if not 2 <= len(some) < len(charges) or min(some) < 0:  # a credit is no charge
        return False
    total = money_text(sum(some, Decimal(0)))
    script.ask(f"What have you charged me since {since}, that day included, in all?", total)
    return True


def choose_drop_places(script: Script, customer: str) -> bool:
    """Have parcels left elsewhere when nobody opens."""
    places = script.rng.sample(DROP_PLACES, 3)
    if places == script.record("customers", customer)["drop_places"]:
        return False
    script.do("set_drop_places", customer_id=customer, places=places)
    script.ask(
        f"When I do not open, try the {places[0]} first, then the {places[1]}, and the {places[2]} "
        "last; leave my parcels nowhere else."
    )
    return True


def add_contact(script: Script, customer: str) -> bool:
    """Put somebody into the address book."""
    town = script.rng.choice(script.every("towns"))
    words = new_contact(script, customer, town["town_id"])
    script.ask(f"Put {words} into my address book.")
    return True


def new_contact(script: Script, customer: str, town_id: str) -> str:
    """Add a stranger to the address book; gives the words that name the stranger."""
    people = script.rng.sample(script.every("customers"), 2)
    name = f"{people[0]['name'].split()[0]} {people[1]['name'].split()[1]}"
    street = people[1]["street"]
    script.do("add_contact", customer_id=customer, name=name, street=street, town_id=town_id)
    return f"{name}, {street}, {named.town_name(script, town_id)}"


def _draw_stops(script: Script, customer: str) -> list[str]:
    """Three contacts at which a round may call; none where the customer can have no round."""
    home = named.home_contacts(script, customer)
    is_business = script.record("customers", customer)["plan"] == "business"
    return script.rng.sample(list(home), 3) if is_business and len(home) >= 3 else []


def _set_round(script: Script, customer: str, stops: list[str], weekdays: list[str]) -> str:
    home = named.home_contacts(script, customer)
    ids = [home[name]["contact_id"] for name in stops]
    call = {"customer_id": customer, "weekdays": weekdays, "stops": ids}
    return str(script.do("set_round", **call)["weekly_fee"])


def plan_round(script: Script, customer: str) -> bool:
    """Have a round with stops in an order of the customer's."""
    stops, weekdays = _draw_stops(script, customer), script.rng.sample(WEEKDAYS, 2)
    if not stops:
        return False
    fee = _set_round(script, customer, stops, weekdays)
    script.ask(
        f"My weekly round is to be driven on {weekdays[0]} and {weekdays[1]} only, first to "
        f"{stops[0]}, then to {stops[1]}, then to {stops[2]}. What does it cost me a week?",
        fee,
    )
    return True


def plan_round_by_distance(script: Script, customer: str) -> bool:
    """Have a round with stops in an order that has to be found out."""
    stops, weekdays = _draw_stops(script, customer), script.rng.sample(WEEKDAYS, 2)
    home = named.home_contacts(script, customer)
    km = {name: script.record("towns", home[name]["town"])["km"] for name in stops}
    if not stops or len(set(km.values())) < len(stops):
        return False
    ordered = sorted(stops, key=lambda name: -int(km[name]))
    if ordered == stops:
        return False
    script.do("list_towns")
    fee = _set_round(script, customer, ordered, weekdays)
    script.ask(
        f"My weekly round is to be driven on {weekdays[0]} and {weekdays[1]} only, to {stops[0]}, "
        f"{stops[1]} and {stops[2]}, and to whoever lives farthest from your depot first, to the "
        "nearest last. What does it cost me a week, and in which town does the van call last?",
        fee,
        named.town_name(script, home[ordered[-1]]["town"]),
    )
    return True


def change_round(script: Script, customer: str) -> bool:
    """Drop the last stop of a round and have it driven on another day too."""
    plan = script.database.records["rounds"].get(customer)
    if plan is None or len(plan["stops"]) < 2:
        return False
    day = script.rng.choice([one for one in WEEKDAYS if one not in plan["weekdays"]])
    script.do("get_round", customer_id=customer)
    weekdays = [*plan["weekdays"], day]
    call = {"customer_id": customer, "weekdays": weekdays, "stops": plan["stops"][:-1]}
    fee = script.do("set_round", **call)["weekly_fee"]
    script.ask(
        f"Have my weekly round driven on {day} too, and leave out its last stop; everything else "
        "about it stays. What does it cost me a week then?",
        fee,
    )
    return True


def end_round(script: Script, customer: str) -> bool:
    """Have no round any more."""
    if customer not in script.database.records["rounds"]:
        return False
    script.do("end_round", customer_id=customer)
    script.ask("I no longer need my weekly round: end it.")
    return True
