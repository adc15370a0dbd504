"""What receivers and senders want of parcels that are under way: each adds one goal to a task."""

from __future__ import annotations

import datetime

from toolorchestra.domain.courier import named
from toolorchestra.domain.courier.rules import working_day_after
from toolorchestra.domain.courier.steps import changeable
from toolorchestra.domain.database import Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money


def is_changeable(script: Script, parcel: Record, customer: str) -> bool:
    """Whether a customer may still change a delivery."""
    try:
        changeable(script.database.fresh(), parcel["parcel_id"], customer, "under way", "missed")
    except DomainError:
        return False
    return True


def new_address(script: Script, parcel: Record) -> dict[str, str]:
    """Another address in the parcel's zone, as functions take it."""
    zone = script.record("towns", parcel["town"])["zone"]
    towns = [one["town_id"] for one in script.every("towns") if one["zone"] == zone]
    street = script.rng.choice(script.every("customers"))["street"]
    return {"street": street, "town_id": script.rng.choice(towns)}


def ask_due(script: Script, customer: str) -> bool:
    """When something comes."""
    own = named.coming(script, customer, "under way")
    if not own:
        return False
    words = script.rng.choice(list(own))
    script.do("list_parcels", customer_id=customer)
    script.ask(f"When is the {words} due?", own[words]["due_on"])
    return True


def reschedule(script: Script, customer: str) -> bool:
    """Have it on a later day, which may cost a fee."""
    own = named.coming(script, customer, "under way")
    able = [words for words, one in own.items() if is_changeable(script, one, customer)]
    if not able:
        return False
    words = script.rng.choice(able)
    day = str(script.rng.choice(named.days(script, after=own[words]["due_on"])[:5]))
    call = {"parcel_id": own[words]["parcel_id"], "customer_id": customer, "day": day}
    if not script.works("reschedule_delivery", **call):
        return False
    fee = script.do("reschedule_delivery", **call)["fee"]
    script.ask(
        f"Bring the {words} on {day} instead, even if that costs me something; do tell me how much "
        "then.",
        *([fee] if money(fee) else []),
    )
    return True


def reschedule_what_is_fixed(script: Script, customer: str) -> bool:
    """Ask for a day that the rules forbid."""
    own = named.coming(script, customer, "under way")
    if not own:
        return False
    words = script.rng.choice(list(own))
    due = own[words]["due_on"]
    day = str(script.rng.choice(named.days(script, after=due)[:8]))
    call = {"parcel_id": own[words]["parcel_id"], "customer_id": customer, "day": day}
    # Of a precious parcel the rules might allow it after all.
    if named.is_precious(script, own[words]) or script.works("reschedule_delivery", **call):
        return False
    script.do("trace_parcel", parcel_id=own[words]["parcel_id"])
    script.ask(
        f"Bring the {words} on {day}. If your rules forbid that, leave it as it is, and tell me on "
        "which day it comes.",
        due,
    )
    return True


def redirect(script: Script, customer: str) -> bool:
    """Have it brought to another address."""
    own = named.coming(script, customer, "under way")
    if not own:
        return False
    words = script.rng.choice(list(own))
    address = new_address(script, own[words])
    call = {"parcel_id": own[words]["parcel_id"], "customer_id": customer, **address}
    if not script.works("redirect_parcel", **call):
        return False
    given = script.do("redirect_parcel", **call)
    script.ask(
        f"Bring the {words} to {address['street']} in {named.town_name(script, address['town_id'])}"
        " instead. When is it due there"
        + (", and what is the fee?" if money(given["fee"]) else "?"),
        given["due_on"],
        *([given["fee"]] if money(given["fee"]) else []),
    )
    return True


def redirect_what_is_fixed(script: Script, customer: str) -> bool:
    """Ask for another address where the rules forbid it."""
    own = named.coming(script, customer, "under way")
    if not own:
        return False
    words = script.rng.choice(list(own))
    address = new_address(script, own[words])
    call = {"parcel_id": own[words]["parcel_id"], "customer_id": customer, **address}
    if named.is_precious(script, own[words]) or script.works("redirect_parcel", **call):
        return False
    script.do("trace_parcel", parcel_id=own[words]["parcel_id"])
    town = named.town_name(script, address["town_id"])
    script.ask(
        f"Can the {words} come to {address['street']} in {town}? If it can, redirect it; if not, "
        "leave it as it is, and tell me by which service it comes and when it is due.",
        own[words]["service"],
        own[words]["due_on"],
    )
    return True


def hold(script: Script, customer: str) -> bool:
    """Fetch it oneself, at a place that takes it."""
    own = named.coming(script, customer, "under way", "missed")
    if not own:
        return False
    words, kind = script.rng.choice(list(own)), script.rng.choice(("locker", "shop"))
    call = {"parcel_id": own[words]["parcel_id"], "customer_id": customer}
    points = script.do("list_points", town_id=own[words]["town"], kind=kind)
    able = [
        one["point_id"]
        for one in points
        if script.works("hold_at_point", **call, point_id=one["point_id"])
    ]
    if not able:
        return False
    street = script.do("hold_at_point", **call, point_id=able[0])["street"]
    script.ask(
        f"I would rather fetch the {words} myself: hold it at a {kind} of the town to which it is "
        "addressed. In which street is that?",
        street,
    )
    return True


def be_away(script: Script, customer: str) -> bool:
    """Have all that can still be changed brought after some days, and hear of the rest."""
    own = [
        one
        for one in script.every("parcels")
        if one.get("receiver") == customer and one["status"] == "under way"
    ]
    until = str(script.rng.choice(named.days(script)[:5]))
    back = str(working_day_after(datetime.date.fromisoformat(until), 1))
    within = [one for one in own if one["due_on"] <= until]
    calls = {
        one["parcel_id"]: {"customer_id": customer, "parcel_id": one["parcel_id"], "day": back}
        for one in within
    }
    able = [key for key, call in calls.items() if script.works("reschedule_delivery", **call)]
    fixed = [one for one in within if one["parcel_id"] not in able]
    if not able or not fixed or any(named.is_precious(script, one) for one in fixed):
        return False
    script.do("list_parcels", customer_id=customer)
    for key in able:
        script.do("reschedule_delivery", **calls[key])
    script.ask(
        f"I am away until {until}, that day included. Have whatever is due to me by then brought "
        f"on {back}, as far as your rules allow, whatever it costs. Tell me when each of those "
        "comes that you cannot change.",
        *(one["due_on"] for one in fixed),
    )
    return True
