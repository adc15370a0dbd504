"""A small stage for the parcel service: a few people, and parcels in states that are known."""

import json

from toolorchestra.domain.task import InitialChange

PARCEL = {
    "sender": "C001",
    "receiver": "C002",
    "to_name": "Somebody",
    "street": "Old Road 1",
    "town": "T01",
    "service": "standard",
    "grams": 2400,
    "contents": "books",
    "cover": "0.00",
    "price": "9.10",
    "status": "under way",
    "due_on": "2033-06-18",
    "num_moves": 0,
    "goods": [],
    "is_refunded": False,
}
"""From C001, who is private, to C002, who is too, due on Saturday; it is Wednesday, 13:20."""

_EMPTIED = ("codes", "cards", "photos", "boxes", "rounds", "charges", "parcels", "contacts")
_PEOPLE = {
    "C001": {"plan": "private", "owes": "20.00", "is_identified": False, "town": "T01"},
    "C002": {"plan": "private", "owes": "0.00", "is_identified": False, "town": "T01"},
    "C003": {"plan": "business", "owes": "0.00", "is_identified": False, "town": "T02"},
}
_TOWNS = {
    "T01": {"name": "Alpha", "zone": "home", "km": 11},
    "T02": {"name": "Beta", "zone": "home", "km": 5},
    "T08": {"name": "Gamma", "zone": "near", "km": 200},
    "T12": {"name": "Delta", "zone": "far", "km": 900},
}


def changes(domain):
    """What makes the stage of the records that ship: no parcels, contacts or charges are left."""
    for collection in _EMPTIED:
        for key in domain.database.records[collection]:
            yield InitialChange(collection=collection, key=key, is_removed=True)
    for collection, some in (("customers", _PEOPLE), ("towns", _TOWNS)):
        for key, fields in some.items():
            yield InitialChange(collection=collection, key=key, fields=fields)
    for key in _PEOPLE:
        fields = {"code": f"777{key[-2:]}", "is_sent": False}
        yield InitialChange(collection="phones", key=key, fields=fields)
    for key, locker in (("Q01", "locker"), ("Q02", "shop")):
        fields = {"kind": locker, "town": "T01", "max_grams": 5000}
        yield InitialChange(collection="points", key=key, fields=fields)
    screen = {"error": "E17", "is_restart_allowed": False}
    yield InitialChange(collection="screens", key="Q01", fields=screen)


def put(collection, key, **fields):
    """One more record of the stage."""
    return InitialChange(collection=collection, key=key, fields=fields)


def fails(environment, reason, name, /, by="policy", **arguments):
    """Let a call fail for a reason."""
    outcome = environment.call(name, arguments, by=by)
    assert not outcome.is_ok and reason in outcome.content, outcome.content


def works(environment, name, /, by="policy", **arguments):
    """Make a call that succeeds; gives its result."""
    outcome = environment.call(name, arguments, by=by)
    assert outcome.is_ok, outcome.content
    try:
        return json.loads(outcome.content)
    except ValueError:
        return outcome.content
