"""How a customer's words name records, only where they name one thing; and what can be planned."""

from __future__ import annotations

import datetime

from toolorchestra.domain.courier.rules import day_problem
from toolorchestra.domain.courier.stock import FEES, TODAY
from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.lookup import by_words
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money


def sent(script: Script, customer: Key, *statuses: str) -> dict[str, Record]:
    """What a customer sends or sent, by the words that name one of these parcels."""
    own = [one for one in script.every("parcels") if one["sender"] == customer]
    found = by_words([f"parcel to {one['to_name']}" for one in own], own)
    return {words: one for words, one in found.items() if one["status"] in statuses}


def coming(script: Script, customer: Key, *statuses: str) -> dict[str, Record]:
    """What a customer receives or received, by the words that name one of these parcels."""
    own = [one for one in script.every("parcels") if one.get("receiver") == customer]
    names = [script.record("customers", one["sender"])["name"] for one in own]
    found = by_words([f"parcel from {name}" for name in names], own)
    return {words: one for words, one in found.items() if one["status"] in statuses}


def contacts(script: Script, customer: Key) -> dict[str, Record]:
    """A customer's contacts by their names."""
    own = [one for one in script.every("contacts") if one["customer"] == customer]
    return by_words([one["name"] for one in own], own)


def home_contacts(script: Script, customer: Key) -> dict[str, Record]:
    """Those of a customer's contacts at which a round may call."""
    return {
        name: one
        for name, one in contacts(script, customer).items()
        if script.record("towns", one["town"])["zone"] == "home"
    }


def boxes(script: Script, customer: Key, *, is_labelled: bool) -> list[Record]:
    """What stands at a customer's home and was not spoken of yet."""
    return [
        one
        for one in script.every("boxes")
        if one["customer"] == customer
        and ("label" in one) == is_labelled
        and not any(one["looks"] in sentence for sentence in script.sentences)
    ]


def is_precious(script: Script, parcel: Record) -> bool:
    """Whether who changes a delivery has to be identified."""
    return money(parcel["cover"]) >= money(script.record("office", "main")["identity_from"])


def town_name(script: Script, town_id: Key) -> str:
    """What a town is called."""
    return str(script.record("towns", town_id)["name"])


def days(script: Script, *, after: str = "") -> list[datetime.date]:
    """The days that can be planned, after a day where one is given."""
    office = script.record("office", "main")
    ahead = range(int(str(FEES["days_ahead"])) + 1)
    found = [TODAY + datetime.timedelta(days=number) for number in ahead]
    return [day for day in found if day_problem(office, day) is None and str(day) > after]
