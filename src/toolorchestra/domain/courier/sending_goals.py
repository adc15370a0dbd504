"""What senders want before their parcels are fetched: each function adds one goal to a task."""

from __future__ import annotations

from decimal import Decimal

from toolorchestra.domain.courier import named
from toolorchestra.domain.courier.account_goals import new_contact
from toolorchestra.domain.courier.shipment_draw import draw_shipment
from toolorchestra.domain.courier.stock import BARRED, GOODS
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def total(amounts: list[str]) -> str:
    """What amounts come to."""
    return money_text(sum(map(money, amounts), Decimal(0)))


def ask_price(script: Script, customer: str) -> bool:
    """What a shipment would cost."""
    town = script.rng.choice(script.every("towns"))
    grams, cover = script.rng.randint(400, 14_900), script.rng.choice((0, 120, 260))
    service = script.rng.choice(("economy", "standard", "express"))
    call = {"customer_id": customer, "town_id": town["town_id"], "grams": grams}
    price = script.do("quote_shipment", **call, service_id=service, cover=f"{cover}.00")["price"]
    insured = f", insured for {cover}.00" if cover else ", not insured"
    script.ask(
        f"What would a parcel of {grams} grams to {town['name']} cost me by {service}{insured}?",
        price,
    )
    return True


def ask_difference(script: Script, customer: str) -> bool:
    """What speed would cost."""
    town = script.rng.choice(script.every("towns"))
    grams = script.rng.randint(400, 14_900)
    call = {"customer_id": customer, "town_id": town["town_id"], "grams": grams, "cover": "0.00"}
    prices = [
        money(script.do("quote_shipment", **call, service_id=name)["price"])
        for name in ("express", "economy")
    ]
    script.ask(
        f"By how much would a parcel of {grams} grams to {town['name']}, not insured, be dearer by "
        "express than by economy?",
        money_text(prices[0] - prices[1]),
    )
    return True


def ship(script: Script, customer: str) -> bool:
    """Send something whose weight is known to somebody in the address book."""
    own = named.contacts(script, customer)
    name = script.rng.choice(list(own))
    grams = script.rng.randint(400, 14_900)
    shipment = draw_shipment(script)
    price = shipment.book(script, own[name], grams)["price"]
    script.ask(
        f"I want to send {name} {shipment.words}; it weighs {grams} grams. What does it cost?",
        price,
    )
    return True


def ship_to_new(script: Script, customer: str) -> bool:
    """Send something to somebody who is not in the address book."""
    town = script.rng.choice(script.every("towns"))
    words = new_contact(script, customer, town["town_id"])
    name = words.split(",")[0]
    grams, shipment = script.rng.randint(400, 14_900), draw_shipment(script)
    price = shipment.book(script, named.contacts(script, customer)[name], grams)["price"]
    script.ask(
        f"I want to send {shipment.words}, to {words}, who is not in my address book yet; it "
        f"weighs {grams} grams. What does it cost?",
        price,
    )
    return True


def insure(script: Script, customer: str) -> bool:
    """Have more cover for a parcel that was not fetched yet."""
    cover = script.rng.choice(("180.00", "310.00", "440.00"))
    own = named.sent(script, customer, "booked")
    able = [
        words
        for words, one in own.items()
        if script.works("insure_parcel", parcel_id=one["parcel_id"], cover=cover)
    ]
    if not able:
        return False
    words = script.rng.choice(able)
    key = own[words]["parcel_id"]
    fee = script.do("insure_parcel", parcel_id=key, cover=cover)["charged"]
    if not money(fee):  # the cover stays within a hundred that is paid for
        return False
    script.ask(f"Raise the cover of my {words} to {cover}. What do you charge for that?", fee)
    return True


def insure_what_is_barred(script: Script, customer: str) -> bool:
    """Ask for cover that the rules forbid."""
    own = named.sent(script, customer, "booked")
    barred = [words for words, one in own.items() if one["contents"] in BARRED]
    if not barred:
        return False
    words = script.rng.choice(barred)
    script.do("trace_parcel", parcel_id=own[words]["parcel_id"])
    script.ask(
        f"Insure my {words} for 100.00. If your rules forbid that, change nothing, and tell me "
        "what I paid for the parcel and what you have noted as its contents.",
        own[words]["price"],
        own[words]["contents"],
    )
    return True


def cancel(script: Script, customer: str) -> bool:
    """Send something after all not."""
    own = named.sent(script, customer, "booked")
    if not own:
        return False
    words = script.rng.choice(list(own))
    credit = script.do("cancel_shipment", parcel_id=own[words]["parcel_id"])["credited"]
    script.ask(f"Cancel my {words}. How much do I get back?", credit)
    return True


def cancel_unplanned(script: Script, customer: str) -> bool:
    """Cancel all that nobody is to fetch."""
    own = [
        one
        for one in script.every("parcels")
        if one["sender"] == customer and one["status"] == "booked"
    ]
    unplanned = [one for one in own if one.get("pickup_on") is None]
    if len(unplanned) < 2:
        return False
    script.do("list_parcels", customer_id=customer)
    given = [
        script.do("cancel_shipment", parcel_id=one["parcel_id"])["credited"] for one in unplanned
    ]
    script.ask(
        "Cancel each parcel of mine that I have booked and for which there is no pick-up yet. How "
        "much do I get back for them in all?",
        total(given),
    )
    return True


def _undeclared(script: Script, customer: str) -> dict[str, Record]:
    """What cannot be fetched before its goods are declared."""
    return {
        words: one
        for words, one in named.sent(script, customer, "booked").items()
        if not one["goods"] and script.record("towns", one["town"])["zone"] == "far"
    }


def _declare(script: Script, parcel: Record) -> str:
    """Declare two goods that are worth the cover; gives the words for them."""
    names = script.rng.sample(GOODS, 2)
    values = [
        f"{script.rng.randint(low, low + 90)}.{script.rng.randint(10, 99)}" for low in (20, 9)
    ]
    values[0] = money_text(money(values[0]) + money(parcel["cover"]))
    script.do("declare_goods", parcel_id=parcel["parcel_id"], names=names, values=values)
    return f"{names[0]} worth {values[0]} and {names[1]} worth {values[1]}"


def declare(script: Script, customer: str) -> bool:
    """Tell customs what is in a parcel."""
    own = _undeclared(script, customer)
    if not own:
        return False
    words = script.rng.choice(list(own))
    goods = _declare(script, own[words])
    declared = script.record("parcels", own[words]["parcel_id"])["goods"]
    script.ask(
        f"In my {words} there are {goods}; declare that to customs. What do they come to?",
        total([one["value"] for one in declared]),
    )
    return True


def declare_and_have_fetched(script: Script, customer: str) -> bool:
    """Have a parcel fetched for which customs has to know the goods first."""
    own = _undeclared(script, customer)
    if not own:
        return False
    words = script.rng.choice(list(own))
    parcel = own[words]
    goods = _declare(script, parcel)
    day = str(named.days(script)[0])
    call = {"customer_id": customer, "parcel_ids": [parcel["parcel_id"]], "day": day}
    given = script.do("book_pickup", **call)
    script.ask(
        f"Have my {words} fetched as soon as you can still plan it. In it there are {goods}, "
        "should you have to know. On which day do you come, and when is it due?",
        day,
        given["due_on"][parcel["parcel_id"]],
    )
    return True
