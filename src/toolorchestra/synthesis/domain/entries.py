"""The domain's records: the third stage. What others refer to is written first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolorchestra.domain.database import Key, Record
from toolorchestra.domain.schema import Schema
from toolorchestra.domain.value import record_problems, references
from toolorchestra.synthesis.domain.record_form import record_form
from toolorchestra.synthesis.domain.rejection import Rejection, rejections_of, unreadable
from toolorchestra.synthesis.domain.schema import Design, needed_by
from toolorchestra.synthesis.domain.subjects import Plan
from toolorchestra.synthesis.domain.workshop import Workshop
from toolorchestra.synthesis.json_form import list_of, object_of
from toolorchestra.synthesis.listed import Listed, Unfit, read_list, shown

STAGE = "entries"
SYSTEM = """
You invent records for a domain's database. They are varied and plausible, agree with each other and
with the records that they refer to, and hold cases that functions have to tell apart: what is
allowed and what is not, what is used up, late, full or cancelled. All names are invented. A
reference is the key of a record that is shown; where none is shown, it is null or the list is
empty. Reply with JSON alone: {"records": [{...}]}.
"""
Records = Mapping[str, Mapping[Key, Record]]
_SHOWN_TARGETS = 60
"""Records of one collection that a request may show, so that it stays short."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What one request asks for."""

    collection: str
    number: int
    """From 1."""
    num_orders: int
    """For the collection."""
    first: int
    """Number of its first record in the collection, from 1."""
    size: int

    @property
    def place(self) -> str:
        """What reports call it."""
        return f"{self.collection}-{self.number}"


def filling_order(schema: Schema) -> list[list[str]]:
    """Collections in the order in which they can be filled; those of a list all at once."""
    targets = {
        name: {
            one.to or (one.of.to if one.of is not None else None)
            for one in collection.fields.values()
        }
        - {None, name}
        for name, collection in schema.collections.items()
    }
    left, levels = list(schema.collections), list[list[str]]()
    while left:
        level = [name for name in left if targets[name].isdisjoint(left)]
        if not level:  # a circle: begin where a reference may be left out
            level = [next(name for name in left if not set(needed_by(schema, name)) & set(left))]
        levels.append(level)
        left = [name for name in left if name not in level]
    return levels


def orders_for(collection: str, num_records: int, size: int) -> list[Order]:
    """The requests for a collection."""
    starts = range(0, num_records, size)
    return [
        Order(
            collection=collection,
            number=number,
            num_orders=len(starts),
            first=start + 1,
            size=min(size, num_records - start),
        )
        for number, start in enumerate(starts, start=1)
    ]


def request(about: Plan, design: Design, records: Records, order: Order) -> str:
    """Asks for records of one collection."""
    fields = json.dumps(design.value["collections"][order.collection], ensure_ascii=False)
    parts = [
        f"About: {about.about}",
        f"Collection {order.collection}:\n{fields}",
        *(_targets(design.schema, records, order)),
        f"This is request {order.number} of {order.num_orders} for this collection: each is to "
        f"give other records. Number their keys from {order.first} where keys are numbered. "
        f"Write {order.size} records.",
    ]
    return "\n\n".join(parts)


def _targets(schema: Schema, records: Records, order: Order) -> list[str]:
    """The records that there are to refer to; each request is shown others where they are many."""
    texts = []
    fields = schema.collections[order.collection].fields.values()
    names = [one.to or (one.of.to if one.of is not None else None) for one in fields]
    for name in dict.fromkeys(name for name in names if name is not None):
        there = list(records.get(name, {}).values())
        start = (order.number - 1) * _SHOWN_TARGETS % max(1, len(there))
        lines = [*there[start:], *there[:start]][:_SHOWN_TARGETS]
        text = "\n".join(json.dumps(one, ensure_ascii=False) for one in lines)
        texts.append(f"Records of {name}:\n{text or '(none)'}")
    return texts


def take_record(schema: Schema, records: Records, collection: str, item: Any, where: str) -> Record:
    """A record without what is null.

    Raises:
        Unfit: Its collection's schema does not allow it, or it refers to what is not there.
    """
    form = schema.collections[collection]
    for problem in record_problems(form.fields, item, where):
        raise Unfit(problem, kind="form")
    for name, field in form.fields.items():
        for place, target, key in references(field, item.get(name), f"{where}.{name}"):
            if target != collection and key not in records.get(target, {}):
                raise Unfit(f"{place}: refers to {key!r}, not in {target}", kind="reference")
    if not item[form.key].strip():
        raise Unfit(f"{where}.{form.key}: an empty key", kind="form")
    return {name: value for name, value in item.items() if value is not None}


async def fill(shop: Workshop, about: Plan, design: Design) -> dict[str, dict[Key, Record]]:
    """Has all collections filled."""
    records: dict[str, dict[Key, Record]] = {name: {} for name in design.schema.collections}
    rejections = list[Rejection]()
    for level in filling_order(design.schema):
        orders = [
            order
            for name in level
            for order in orders_for(name, design.num_records[name], shop.counts.batch_size)
        ]
        replies = await shop.all(
            STAGE, [partial(_ask, shop, about, design, records, o) for o in orders]
        )
        for order, (listed, rejected) in zip(orders, replies, strict=True):
            rejections += rejected
            rejections += _put(design.schema, records[order.collection], order, listed)
    taken = [(name, one) for name, known in records.items() for one in known.values()]
    shop.journal.close(STAGE, [{"collection": n, "record": one} for n, one in taken], rejections)
    return records


def _put(
    schema: Schema, known: dict[Key, Record], order: Order, listed: Sequence[tuple[str, Record]]
) -> list[Rejection]:
    rejections = []
    for where, record in listed:
        key = record[schema.collections[order.collection].key]
        if key in known:
            rejections.append(
                Rejection(
                    stage=STAGE,
                    place=f"{order.place}.{where}",
                    kind="duplicate",
                    reason=f"{order.collection} {key} is there already",
                    said=shown(record),
                )
            )
        else:
            known[key] = record
    return rejections


async def _ask(
    shop: Workshop, about: Plan, design: Design, records: Records, order: Order
) -> tuple[Sequence[tuple[str, Record]], list[Rejection]]:
    form = design.schema.collections[order.collection]

    def read(said: str) -> Any:
        own = set[Key]()

        def take(item: Any, where: str) -> Record:
            record = take_record(design.schema, records, order.collection, item, where)
            if record[form.key] in own:
                raise Unfit(f"{where}.{form.key}: stands twice in the reply", kind="duplicate")
            own.add(record[form.key])
            return record

        return read_list(said, "records", take)

    asked = await shop.writer.ask(
        SYSTEM,
        request(about, design, records, order),
        read,
        json_schema=object_of({"records": list_of(record_form(form.fields))}),
    )
    listed: Listed[Record] | None = asked.value
    if listed is None:
        return (), [unreadable(STAGE, order.place, asked.fault, asked.said)]
    return listed.items[: order.size], rejections_of(STAGE, order.place, listed.refused)
