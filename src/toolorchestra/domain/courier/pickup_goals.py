"""What senders want to have fetched: each function adds one goal to a task."""

from __future__ import annotations

from toolorchestra.domain.courier import named
from toolorchestra.domain.courier.cues import WEIGHT
from toolorchestra.domain.courier.sending_goals import total
from toolorchestra.domain.courier.shipment_draw import Shipment, draw_shipment
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money


def _fetch(script: Script, customer: str, parcels: list[Record], day: str) -> dict[str, str]:
    """Do the golden booking of a pick-up; gives the fee, and when the first parcel is due."""
    keys = [one["parcel_id"] for one in parcels]
    given = script.do("book_pickup", customer_id=customer, parcel_ids=keys, day=day)
    return {"fee": given["fee"], "due_on": given["due_on"][keys[0]]}


def _is_planned(script: Script) -> bool:
    """Whether the task has a pick-up already; a second one on its day would have to be the same."""
    return any(action.name == "book_pickup" for action in script.actions)


def have_fetched(script: Script, customer: str) -> bool:
    """Have one parcel fetched on a day."""
    day = str(script.rng.choice(named.days(script)))
    own = named.sent(script, customer, "booked")
    call = {"customer_id": customer, "day": day}
    able = [
        words
        for words, one in own.items()
        if script.works("book_pickup", **call, parcel_ids=[one["parcel_id"]])
    ]
    if not able or _is_planned(script):
        return False
    words = script.rng.choice(able)
    due = _fetch(script, customer, [own[words]], day)["due_on"]
    script.ask(f"Fetch my {words} on {day}. When is it due then?", due)
    return True


def have_all_fetched(script: Script, customer: str) -> bool:
    """Have all fetched at once, as early as may be."""
    day = str(named.days(script)[0])
    parcels = [
        one
        for one in script.every("parcels")
        if one["sender"] == customer and one["status"] == "booked" and not one.get("pickup_on")
    ]
    keys = [one["parcel_id"] for one in parcels]
    call = {"customer_id": customer, "day": day}
    is_able = len(keys) > 1 and script.works("book_pickup", **call, parcel_ids=keys)
    if not is_able or _is_planned(script):
        return False
    script.do("list_parcels", customer_id=customer)
    fee = _fetch(script, customer, parcels, day)["fee"]
    told = "On which day do you come" + (", and what does it cost me?" if money(fee) else "?")
    script.ask(
        "Fetch all parcels of mine that are booked and for which there is no pick-up yet, together "
        f"and on the first day that you can still plan. {told}",
        day,
        *([fee] if money(fee) else []),
    )
    return True


def send_in_time(script: Script, customer: str) -> bool:
    """Take the cheapest service that is fast enough."""
    own = named.contacts(script, customer)
    name = script.rng.choice(list(own))
    grams, drawn = script.rng.randint(400, 14_900), draw_shipment(script)
    call = {"customer_id": customer, "town_id": own[name]["town"], "grams": grams}
    day = str(named.days(script)[0])
    if script.record("towns", own[name]["town"])["zone"] == "far":
        return False  # the goods would have to be declared
    service = script.rng.choice(("standard", "express"))
    for other in ("economy", "standard", "express"):
        script.do("quote_shipment", **call, service_id=other, cover=drawn.cover)
    shipment = Shipment(contents=drawn.contents, service=service, cover=drawn.cover)
    parcel = shipment.book(script, own[name], grams)
    due = _fetch(script, customer, [parcel], day)["due_on"]
    insured = "not insured" if drawn.cover == "0.00" else f"insured for {drawn.cover}"
    script.ask(
        f"{name} needs {drawn.contents} of {grams} grams from me, {insured}, on {due} at the "
        "latest. Book the cheapest service that is in time if you fetch it on the first day that "
        "you can still plan, and book that pick-up. Which service is it, what does the shipment "
        "cost without the pick-up, and on which day do you come?",
        service,
        parcel["price"],
        day,
    )
    return True


def ship_weighed(script: Script, customer: str) -> bool:
    """Send a box whose weight the customer has to find out."""
    own, boxes = named.contacts(script, customer), named.boxes(script, customer, is_labelled=False)
    if not boxes:
        return False
    name, box = script.rng.choice(list(own)), script.rng.choice(boxes)
    shipment = draw_shipment(script)
    script.ask(
        f"I want to send {name} my {box['looks']}: {shipment.words}. I do not know what it weighs. "
        "What does it cost?"
    )
    _weigh(script, box)
    script.hear(shipment.book(script, own[name], box["grams"])["price"])
    return True


def ship_two_weighed(script: Script, customer: str) -> bool:
    """Send two boxes, have them weighed first and fetched together."""
    own, boxes = named.contacts(script, customer), named.boxes(script, customer, is_labelled=False)
    near = [n for n in own if script.record("towns", own[n]["town"])["zone"] != "far"]
    if len(boxes) < 2 or len(near) < 2:
        return False
    names, shipments = script.rng.sample(near, 2), [draw_shipment(script) for _ in range(2)]
    script.ask(
        f"I want to send two boxes, and you are to fetch both on the first day that you can still "
        f"plan. {names[0]} gets my {boxes[0]['looks']}: {shipments[0].words}. {names[1]} gets my "
        f"{boxes[1]['looks']}: {shipments[1].words}. I do not know what they weigh. What does it "
        "all cost me, the pick-up included, and on which day do you come?"
    )
    parcels = []
    for name, box, shipment in zip(names, boxes, shipments, strict=False):
        _weigh(script, box)
        parcels.append(shipment.book(script, own[name], box["grams"]))
    day = str(named.days(script)[0])
    fee = _fetch(script, customer, parcels, day)["fee"]
    script.hear(total([*(one["price"] for one in parcels), fee]), day)
    return True


def _weigh(script: Script, box: Record) -> None:
    script.know(f"Your {box['looks']} stands at your home; you can weigh it when asked to.")
    script.user_does("weigh_box", customer_id=box["customer"], looks=box["looks"])
    script.answer(f"On the scale my {box['looks']} has {{result}}.", *WEIGHT)
